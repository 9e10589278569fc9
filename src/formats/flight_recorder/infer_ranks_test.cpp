// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/infer_ranks.h"

#include <gmock/gmock.h>

namespace holter::formats::flight_recorder {
namespace {

struct GroupText {
  const char* name;
  const char* ranks;
};

void add_dump(model::Evidence& ev, std::vector<GroupText> groups, const char* p2p_op = nullptr,
              const char* p2p_group = "") {
  model::FrDump dump;
  dump.file = static_cast<model::FileId>(ev.dumps.size());
  ev.files.push_back({});
  dump.first_entry = ev.entries.size();
  for (const auto& g : groups) dump.groups.push_back({ev.intern(g.name), {}, ev.intern_rank_list(g.ranks)});
  if (p2p_op) {
    model::FrEntry e;
    e.op = ev.intern(p2p_op);
    e.group_name = ev.intern(p2p_group);
    e.is_p2p = true;
    ev.entries.push_back(e);
    dump.entry_count = 1;
  }
  ev.dumps.push_back(dump);
}

int rank(const model::Evidence& ev, std::size_t i) { return value(ev.dumps[i].rank); }

TEST(InferRanks, own_rank_of_a_receive_in_its_group) {
  model::Evidence ev;
  add_dump(ev, {{"0", "[0, 1, 2, 3, 4, 5]"}, {"8", "[1, 3, 5]"}}, "recv 2<-0", "8");
  add_dump(ev, {{"0", "[0, 1, 2, 3, 4, 5]"}, {"8", "[1, 3, 5]"}}, "send 0->2", "8");
  EXPECT_EQ(infer_dump_ranks(ev), 2u);
  EXPECT_EQ(rank(ev, 0), 5);
  EXPECT_EQ(rank(ev, 1), 1);
}

TEST(InferRanks, intersection_of_groups) {
  model::Evidence ev;
  add_dump(ev, {{"0", "[0, 1, 2, 3]"}, {"1", "[0, 1]"}, {"2", "[1, 3]"}});
  infer_dump_ranks(ev);
  EXPECT_EQ(rank(ev, 0), 1);
}

TEST(InferRanks, what_is_left_when_the_others_are_placed) {
  model::Evidence ev;
  add_dump(ev, {{"1", "[0, 1]"}});
  add_dump(ev, {{"1", "[0, 1]"}});
  ev.dumps[1].rank = model::GlobalRank{0};
  infer_dump_ranks(ev);
  EXPECT_EQ(rank(ev, 0), 1);
}

TEST(InferRanks, an_undecided_dump_stays_unknown) {
  model::Evidence ev;
  add_dump(ev, {{"1", "[0, 1]"}});
  add_dump(ev, {{"1", "[0, 1]"}});
  EXPECT_EQ(infer_dump_ranks(ev), 0u);
  EXPECT_EQ(rank(ev, 0), -1);
}

TEST(InferRanks, sends_overrule_a_file_name_and_say_so) {
  model::Evidence ev;
  add_dump(ev, {{"8", "[4, 6]"}}, "send 1->0", "8");
  ev.dumps[0].rank = model::GlobalRank{0};
  infer_dump_ranks(ev);
  EXPECT_EQ(rank(ev, 0), 6);
  EXPECT_EQ(ev.problems.size(), 1u);
}

}  // namespace
}  // namespace holter::formats::flight_recorder
