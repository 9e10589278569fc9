// SPDX-License-Identifier: Apache-2.0
// Real dumps, read in place; skipped where they are absent.
#include "formats/flight_recorder/reader.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "base/strings.h"
#include "formats/flight_recorder/infer_ranks.h"

namespace holter::formats::flight_recorder {
namespace {

namespace fs = std::filesystem;

fs::path data_folder() {
  const char* set = std::getenv("HOLTER_TEST_DATA");
  return set && *set ? fs::path(set) : fs::path(HOLTER_SOURCE_DIR) / ".." / "shared" / "data";
}

std::string slurp(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Reads <folder>/_dump_<r> for r = 0..15 in order.
model::Evidence read_case(const fs::path& folder, bool use_names) {
  model::Evidence ev;
  for (int r = 0; r < 16; ++r) {
    const auto data = slurp(folder / ("_dump_" + std::to_string(r)));
    ev.files.push_back({.path = "_dump_" + std::to_string(r)});
    if (use_names) ev.files.back().name_rank = model::GlobalRank{r};
    EXPECT_GE(PickleReader().probe(ev.files.back(), data), 90) << r;
    MemorySource source(data);
    PickleReader().read(source, {static_cast<model::FileId>(r), &ev.files.back()}, ev);
  }
  return ev;
}

class RealDumps : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = data_folder() / "fr_traces" / GetParam();
    if (!fs::exists(folder_)) GTEST_SKIP() << "no test data at " << folder_ << "; set HOLTER_TEST_DATA";
  }
  fs::path folder_;
};

TEST_P(RealDumps, all_sixteen_parse_without_a_problem) {
  const auto ev = read_case(folder_, true);
  EXPECT_TRUE(ev.problems.empty());
  ASSERT_EQ(ev.dumps.size(), 16u);
  EXPECT_GT(ev.entries.size(), 100u);
  for (const auto& dump : ev.dumps) {
    EXPECT_FALSE(dump.truncated);
    EXPECT_EQ(ev.text(dump.version), "2.9");
    EXPECT_EQ(ev.text(dump.nccl_version), "2.27.3");
    EXPECT_GE(dump.groups.size(), 10u);
    for (const auto& g : dump.groups) EXPECT_NE(g.ranks, model::RankListId::kNone);
    for (const auto& s : dump.statuses) EXPECT_NE(s.group_name, model::StrId::kEmpty);
  }
}

TEST_P(RealDumps, entries_are_whole) {
  const auto ev = read_case(folder_, true);
  for (const auto& e : ev.entries) {
    EXPECT_EQ(ev.text(e.backend), "nccl");
    EXPECT_NE(e.op, model::StrId::kEmpty);
    EXPECT_NE(e.group_name, model::StrId::kEmpty);
    EXPECT_EQ(e.state, model::OpState::kScheduled);
    EXPECT_GT(e.created_ns, 1'700'000'000'000'000'000);
    EXPECT_NE(e.shape, model::ShapeId::kNone);
    EXPECT_EQ(e.is_p2p,
              ev.text(e.op).find("->") != std::string_view::npos || ev.text(e.op).find("<-") != std::string_view::npos);
  }
}

TEST_P(RealDumps, ranks_inferred_without_file_names_are_right) {
  auto ev = read_case(folder_, false);
  infer_dump_ranks(ev);
  int known = 0;
  for (std::size_t i = 0; i < ev.dumps.size(); ++i) {
    if (ev.dumps[i].rank == model::GlobalRank::kNone) continue;
    EXPECT_EQ(value(ev.dumps[i].rank), static_cast<int>(i));
    ++known;
  }
  EXPECT_EQ(known, 16);
}

INSTANTIATE_TEST_SUITE_P(All, RealDumps, ::testing::Values("gpu_error_1st", "lock_gil_2nd"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace holter::formats::flight_recorder
