// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evidence/context.h"

namespace holter::evidence {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ContextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("holter-context-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "logs");
    std::ofstream(folder_ / "logs/a.log") << "one\ntwo\r\nthree\n" << std::string(10'000, 'x') << "\nfive\nsix";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  model::Citation cited(std::uint64_t line, const std::string& source = "logs/a.log") {
    model::Report r;
    model::Citation c;
    c.at = {model::FileId{0}, model::PosKind::kLine, line};
    c.source = source;
    r.findings.emplace_back().evidence = {c};
    add_context(r, {folder_.string()}, {.before = 1, .after = 1, .line_bytes = 20});
    return r.findings[0].evidence[0];
  }

  std::filesystem::path folder_;
};

TEST_F(ContextTest, lines_around_the_cited_one) {
  const auto c = cited(2);
  EXPECT_EQ(c.context_first, 1u);
  EXPECT_THAT(c.context, ElementsAre("one", "two", "three"));
}

TEST_F(ContextTest, ends_of_the_file_and_long_lines) {
  EXPECT_THAT(cited(1).context, ElementsAre("one", "two"));
  EXPECT_THAT(cited(6).context, ElementsAre("five", "six"));
  EXPECT_THAT(cited(4).context, ElementsAre("three", std::string(17, 'x') + "...", "five"));
}

TEST_F(ContextTest, what_is_not_there_stays_empty) {
  EXPECT_THAT(cited(90).context, IsEmpty());
  EXPECT_THAT(cited(0).context, IsEmpty());
  EXPECT_THAT(cited(1, "../../etc/passwd").context, IsEmpty());
  EXPECT_THAT(cited(1, "logs/b.log").context, IsEmpty());
}

}  // namespace
}  // namespace holter::evidence
