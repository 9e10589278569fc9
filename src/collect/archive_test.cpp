// SPDX-License-Identifier: Apache-2.0
#include "collect/archive.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace holter::collect {
namespace {

namespace fs = std::filesystem;

// Read back by the real tar: the archive is for others too.
TEST(Archive, is_what_tar_reads) {
  const auto folder = fs::path(::testing::TempDir()) / "archive_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream file(folder / "a.tar.zst", std::ios::binary);
  ArchiveSink sink([&](std::string_view data) {
    file.write(data.data(), static_cast<std::streamsize>(data.size()));
    return file.good();
  });
  const std::string large(100'000, 'x');
  ASSERT_TRUE(sink.add("rank3/empty", "", 1'700'000'000'000'000'000));
  ASSERT_TRUE(sink.add("large.log", large, 1'700'000'000'000'000'000));
  ASSERT_TRUE(sink.finish());
  file.close();
  if (std::system("command -v zstd tar >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs tar and zstd";
  const auto command = "cd " + folder.string() + " && zstd -qdc a.tar.zst | tar xf -";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(fs::file_size(folder / "rank3" / "empty"), 0U);
  std::stringstream content;
  content << std::ifstream(folder / "large.log").rdbuf();
  EXPECT_EQ(content.str(), large);
  fs::remove_all(folder);
}

TEST(Archive, a_reader_that_went_away_is_an_error) {
  ArchiveSink sink([](std::string_view) { return false; });
  EXPECT_FALSE(sink.add("a", "b", 0));
}

TEST(Archive, names_are_safe_in_every_sink) {
  EXPECT_EQ(safe_name("../../etc/passwd"), "_./_./etc/passwd");
  EXPECT_EQ(safe_name("/a//b\n c"), "a/b__c");
  EXPECT_EQ(safe_name(""), "unnamed");
  EXPECT_LE(safe_name(std::string(500, 'a')).size(), 99U);
}

}  // namespace
}  // namespace holter::collect
