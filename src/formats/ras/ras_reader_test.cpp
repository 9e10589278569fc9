// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/ras_reader.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

namespace holter::formats::ras {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string fixture(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(HOLTER_SOURCE_DIR "/src/formats/ras/testdata/" + name).rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

model::Evidence read(std::string_view data, std::size_t chunk = 4096) {
  model::Evidence ev;
  ev.files.push_back({});
  MemorySource source(data, chunk);
  RasReader().read(source, {model::FileId{0}, &ev.files[0]}, ev);
  return ev;
}

TEST(Ras, json_with_the_missing_comma) {
  const auto data = fixture("r8_4host_sigstop_rank5.json");
  EXPECT_GE(RasReader().probe({}, data), 90);
  const auto ev = read(data, 3);
  EXPECT_TRUE(ev.problems.empty());
  ASSERT_EQ(ev.ras.size(), 1u);
  const auto& reply = ev.ras[0];
  EXPECT_FALSE(reply.text);
  EXPECT_EQ(ev.text(reply.nccl_version), "2.28.9");
  EXPECT_EQ(reply.time.ns, 1796074932LL * 1'000'000'000);
  ASSERT_EQ(reply.comms.size(), 1u);
  const auto& comm = reply.comms[0];
  EXPECT_EQ(ev.text(comm.hash), "e5a115d6fc9be235");
  EXPECT_EQ(comm.size, 8);
  EXPECT_EQ(comm.ranks_seen, 7);
  ASSERT_EQ(comm.ranks.size(), 8u);
  EXPECT_THAT(comm.ranks[0].counts, ElementsAre(0, 0, 0, 0, 30));
  const auto& missing = comm.ranks[7];
  EXPECT_EQ(missing.rank, 5);
  EXPECT_EQ(missing.pid, 18259);
  EXPECT_TRUE(missing.missing);
  EXPECT_TRUE(missing.unresponsive);
  EXPECT_FALSE(missing.dead);
  EXPECT_THAT(missing.counts, ElementsAre(-1, -1, -1, -1, -1));
  EXPECT_EQ(missing.line, 164u);
  EXPECT_THAT(std::string(ev.text(missing.text)), HasSubstr("{ \"rank\": 5, "));
}

TEST(Ras, a_time_out_of_range_is_no_time) {
  for (const char* bad : {"2026-11-30 -1:42:12", "9999-11-30 21:42:12", "2026-13-30 21:42:12", "soon"}) {
    const auto ev = read(std::string(R"({"nccl_version":"2.28.9","timestamp":")") + bad + R"(","communicators":[]})");
    ASSERT_EQ(ev.ras.size(), 1u) << bad;
    EXPECT_EQ(ev.ras[0].time.ns, 0) << bad;
  }
}

TEST(Ras, text_names_the_missing_rank) {
  const auto data = fixture("r8_4host_sigstop_rank5.text");
  EXPECT_GE(RasReader().probe({}, data), 90);
  const auto ev = read(data);
  EXPECT_TRUE(ev.problems.empty());
  ASSERT_EQ(ev.ras.size(), 1u);
  const auto& reply = ev.ras[0];
  EXPECT_TRUE(reply.text);
  EXPECT_EQ(reply.timeouts, 2);
  ASSERT_EQ(reply.comms.size(), 1u);
  EXPECT_EQ(ev.text(reply.comms[0].hash), "e5a115d6fc9be235");
  EXPECT_EQ(ev.text(reply.comms[0].status), "RUNNING");
  EXPECT_EQ(ev.text(reply.comms[0].errors), "INCOMPLETE");
  EXPECT_EQ(reply.comms[0].ranks_seen, 7);
  ASSERT_EQ(reply.comms[0].ranks.size(), 1u);
  EXPECT_EQ(reply.comms[0].ranks[0].rank, 5);
  EXPECT_TRUE(reply.comms[0].ranks[0].missing);
  EXPECT_TRUE(reply.comms[0].ranks[0].unresponsive);
  EXPECT_EQ(ev.text(reply.comms[0].ranks[0].host), "127.0.0.1");
}

TEST(Ras, both_forms_give_one_hash) {
  const auto ev = read(fixture("r8_4host_sigstop_rank5.json") + "\n" + fixture("r8_4host_sigstop_rank5.verbose.txt"));
  ASSERT_EQ(ev.ras.size(), 2u);
  EXPECT_EQ(ev.ras[0].comms[0].hash, ev.ras[1].comms[0].hash);
}

constexpr std::string_view kMismatch = R"(SERVER PROTOCOL 2
OK
NCCL version 2.26.2 compiled with CUDA 12.8
CUDA runtime version 12080, driver version 12080

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      4          8            1         32       32

Communicators... (0.00s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         8         4         1         4        32   RUNNING  OK
    1         1         4         8        32        32   RUNNING  MISMATCH

Errors
======

DEAD
  1 job process is considered dead (unreachable via the RAS network)
  Process 3487984 on node 10.3.0.13 managing GPU 5

#1-0 (9e17999afaa87dbb) INCOMPLETE
  Missing communicator data from 1 rank
  Rank 29 -- GPU 5 managed by process 3487984 on node 10.3.0.13

Warnings
========

#1-0 (9e17999afaa87dbb) MISMATCH
  Communicator ranks have different AllGather operation counts
  26 ranks have launched up to operation 6650
  5 ranks have launched up to operation 6649
  Rank 0 -- GPU 0 managed by process 483072 on node 10.3.0.10
  Rank 2 -- GPU 2 managed by process 483074 on node 10.3.0.10
)";

TEST(Ras, text_counts_belong_to_the_ranks_listed_below_them) {
  EXPECT_GE(RasReader().probe({}, kMismatch), 90);
  const auto ev = read(kMismatch, 7);
  EXPECT_TRUE(ev.problems.empty());
  ASSERT_EQ(ev.ras.size(), 1u);
  ASSERT_EQ(ev.ras[0].comms.size(), 2u);
  const auto& group = ev.ras[0].comms[0];
  EXPECT_EQ(group.size, 4);
  EXPECT_EQ(group.ranks_seen, 4);
  const auto& comm = ev.ras[0].comms[1];
  ASSERT_EQ(comm.ranks.size(), 3u);
  EXPECT_EQ(comm.ranks[0].rank, 29);
  EXPECT_TRUE(comm.ranks[0].dead);
  EXPECT_THAT(comm.ranks[1].counts, ElementsAre(-1, -1, 6649, -1, -1));
  EXPECT_EQ(comm.ranks[2].rank, 2);
  EXPECT_EQ(comm.ranks[2].pid, 483074);
  ASSERT_EQ(comm.launched.size(), 2u);
  EXPECT_EQ(comm.launched[0].ranks, 26);
  EXPECT_EQ(comm.launched[0].count, 6650);
  EXPECT_EQ(comm.launched[0].op, 2);
  EXPECT_EQ(ev.text(comm.warnings[0]), "Communicator ranks have different AllGather operation counts");
}

TEST(Ras, a_single_rank_that_lags_is_named_in_the_sentence) {
  std::string data(kMismatch);
  const auto at = data.find("  26 ranks have");
  data = data.substr(0, at) + "  31 ranks have launched up to operation 4\n  Rank 5 has launched up to operation 3\n";
  data.replace(data.find("AllGather "), 10, "");
  const auto ev = read(data);
  const auto& comm = ev.ras.at(0).comms[1];
  EXPECT_EQ(comm.ranks.back().rank, 5);
  EXPECT_EQ(comm.ranks.back().launched, 3);
}

TEST(Ras, any_cut_is_a_problem_and_no_crash) {
  const auto data = fixture("r8_4host_sigstop_rank5.json");
  for (std::size_t size = 1; size < data.size() - 2; size += 7) {
    const auto ev = read(std::string_view(data).substr(0, size));
    ASSERT_EQ(ev.problems.size(), 1u) << size;
    EXPECT_THAT(ev.problems[0].what, HasSubstr("ends early"));
  }
  for (std::size_t size = 20; size < kMismatch.size() - 2; ++size) (void)read(kMismatch.substr(0, size));
}

TEST(Ras, a_log_that_prints_a_version_is_not_a_reply) {
  EXPECT_EQ(RasReader().probe({}, "h:1:1 [0] NCCL INFO x\nNCCL version 2.21.5+cuda12.4\n"), 0);
  EXPECT_EQ(RasReader().probe({}, "NCCL version 2.21.5+cuda12.4\nstep 1\n"), 0);
}

}  // namespace
}  // namespace holter::formats::ras
