// SPDX-License-Identifier: Apache-2.0
#include "model/evidence.h"

#include <gmock/gmock.h>

namespace holter::model {
namespace {

using ::testing::ElementsAre;

TEST(Evidence, rank_lists_are_parsed_once_and_keep_their_order) {
  Evidence ev;
  const auto id = ev.intern_rank_list("[4, 0, 12]");
  EXPECT_EQ(id, ev.intern_rank_list("[4, 0, 12]"));
  EXPECT_THAT(ev.rank_lists[static_cast<std::uint32_t>(id)], ElementsAre(4, 0, 12));
  EXPECT_EQ(id, ev.intern_rank_list("[4,0,12]"));
  EXPECT_EQ(ev.intern_rank_list("[0, junk]"), RankListId::kNone);
}

TEST(Evidence, problems_of_one_kind_are_counted) {
  Evidence ev;
  for (int i = 0; i < 5; ++i) ev.add_problem({FileId{0}, PosKind::kLine, 1}, "bad line");
  ev.add_problem({FileId{1}, PosKind::kLine, 1}, "bad line");
  ASSERT_EQ(ev.problems.size(), 2u);
  EXPECT_EQ(ev.problems[0].times, 5u);
}

TEST(Evidence, merge_appends_files_and_shifts_references) {
  Evidence all;
  for (const char* name : {"a", "b"}) {
    Evidence part;
    part.files.push_back({.path = name});
    part.events.push_back({.kind = part.intern("x"), .at = {FileId{0}, PosKind::kLine, 3}});
    part.add_problem({FileId{0}, PosKind::kNone, 0}, "bad");
    part.add_problem({}, "no file");
    all.merge(std::move(part));
  }
  EXPECT_EQ(all.events[0].at.file, FileId{0});
  EXPECT_EQ(all.events[1].at.file, FileId{1});
  ASSERT_EQ(all.problems.size(), 3u);
  EXPECT_EQ(all.problems[1].at.file, FileId::kNone);
  EXPECT_EQ(all.problems[1].times, 2u);
  EXPECT_EQ(all.problems[2].at.file, FileId{1});
}

TEST(Evidence, merge_translates_every_id) {
  Evidence a, b;
  a.intern("pad");
  a.entries.push_back({});
  FrEntry e;
  e.op = b.intern("all_reduce");
  e.shape = b.intern_shape({b.intern("[[4]]"), {}, b.intern("Float"), {}, 4, 0});
  e.frames = b.intern_frames({{b.intern("f"), b.intern("x.py"), 7, FrameKind::kPython}});
  b.entries.push_back(e);
  FrDump d;
  d.groups.push_back({b.intern("0"), b.intern("default_pg"), b.intern_rank_list("[0, 1]")});
  d.entry_count = 1;
  b.dumps.push_back(d);
  b.add_problem({FileId{0}, PosKind::kNone, 0}, "x");
  b.add_problem({FileId{0}, PosKind::kNone, 0}, "x");
  a.merge(std::move(b));
  const auto& got = a.entries[a.dumps[0].first_entry];
  EXPECT_EQ(a.text(got.op), "all_reduce");
  EXPECT_EQ(a.text(a.shapes[static_cast<std::uint32_t>(got.shape)].input_sizes), "[[4]]");
  EXPECT_EQ(a.text(a.frame_lists[static_cast<std::uint32_t>(got.frames)][0].file), "x.py");
  EXPECT_EQ(a.text(a.dumps[0].groups[0].desc), "default_pg");
  EXPECT_THAT(a.rank_lists[static_cast<std::uint32_t>(a.dumps[0].groups[0].ranks)], ElementsAre(0, 1));
  EXPECT_EQ(a.problems[0].times, 2u);
}

}  // namespace
}  // namespace holter::model
