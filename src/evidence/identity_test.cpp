// SPDX-License-Identifier: Apache-2.0
#include "evidence/identity.h"

#include <gmock/gmock.h>

namespace holter::evidence {
namespace {

using model::FileId;
using model::GlobalRank;
using ::testing::HasSubstr;

struct Builder {
  model::Evidence ev;

  FileId file(const std::string& path, int rank = -1, const char* node = "") {
    model::SourceFile f;
    f.path = path;
    f.name_rank = GlobalRank{rank};
    f.name_node = ev.intern(node);
    ev.files.push_back(f);
    return FileId{static_cast<std::uint32_t>(ev.files.size() - 1)};
  }
  std::size_t event(FileId file, int rank, const char* node, int pid) {
    model::Event e;
    e.at = {file, model::PosKind::kLine, 1};
    e.rank = GlobalRank{rank};
    e.node = ev.intern(node);
    e.pid = pid;
    ev.events.push_back(e);
    return ev.events.size() - 1;
  }
};

TEST(Identity, records_without_owner_get_that_of_their_file) {
  Builder b;
  const auto plain = b.file("rank3.log", 3, "gn7");
  const auto mixed = b.file("rank0.log", 0);
  const auto own = b.event(plain, -1, "", -1);
  b.event(mixed, 0, "", -1);
  b.event(mixed, 5, "", -1);
  const auto unclear = b.event(mixed, -1, "", -1);
  resolve_identity(b.ev);
  EXPECT_EQ(b.ev.events[own].rank, GlobalRank{3});
  EXPECT_EQ(b.ev.text(b.ev.events[own].node), "gn7");
  EXPECT_EQ(b.ev.events[unclear].rank, GlobalRank::kNone) << "the file speaks of several ranks";
}

TEST(Identity, stacks_get_the_rank_of_their_process) {
  Builder b;
  const auto log = b.file("all.log"), stacks = b.file("stacks.txt");
  b.event(log, 2, "gn1", 4470);
  b.event(log, 6, "gn2", 4470);
  for (const char* node : {"gn2", "gn3", ""}) {
    model::StackSample s;
    s.at = {stacks, model::PosKind::kLine, 1};
    s.pid = 4470;
    s.node = b.ev.intern(node);
    b.ev.stacks.push_back(s);
  }
  resolve_identity(b.ev);
  EXPECT_EQ(b.ev.stacks[0].rank, GlobalRank{6});
  EXPECT_EQ(b.ev.stacks[1].rank, GlobalRank::kNone) << "no process of that node is known";
  EXPECT_EQ(b.ev.stacks[2].rank, GlobalRank::kNone) << "two processes have that pid";
}

TEST(Identity, hosts_known_from_content_are_found_in_names) {
  Builder b;
  const auto log = b.file("job.log");
  b.event(log, 0, "trn-a12", -1);
  b.file("smi/trn-a12.csv");
  resolve_identity(b.ev);
  EXPECT_EQ(b.ev.text(b.ev.files[1].name_node), "trn-a12");
}

TEST(Identity, contradictions_are_problems) {
  Builder b;
  const auto one = b.file("a.log"), two = b.file("b.log");
  b.event(one, 3, "gn1", -1);
  b.event(two, 3, "gn2", -1);
  for (const auto f : {one, two}) {
    model::FrDump dump;
    dump.file = f;
    dump.rank = GlobalRank{1};
    b.ev.dumps.push_back(dump);
  }
  resolve_identity(b.ev);
  ASSERT_EQ(b.ev.problems.size(), 2u);
  EXPECT_THAT(b.ev.problems[0].what, HasSubstr("2 Flight Recorder dumps of rank 1"));
  EXPECT_THAT(b.ev.problems[1].what, HasSubstr("rank 3 is on gn2 here and on gn1 in a.log"));
}

TEST(Identity, members_of_archives_are_ranks_as_a_set) {
  Builder b;
  b.file("x.tar!0.log");
  b.file("x.tar!1.log");
  resolve_identity(b.ev);
  EXPECT_EQ(b.ev.files[1].name_rank, GlobalRank{1});
}

}  // namespace
}  // namespace holter::evidence
