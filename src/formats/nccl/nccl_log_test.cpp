// SPDX-License-Identifier: Apache-2.0
// Lines of single versions are text written by us after the public sources; the logs of
// tests/data/nccl_2.28.9 come from NCCL's own code on an emulated runtime.
#include "formats/nccl/nccl_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace holter::formats::nccl {
namespace {

using model::InitStage;
using model::Transport;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

class NcclLog : public ::testing::Test {
 protected:
  void feed(std::string_view text, int rank = -1) {
    const auto parser = make_parser();
    std::istringstream lines{std::string(text)};
    std::string one;
    text::Line line;
    line.rank = model::GlobalRank{rank};
    while (std::getline(lines, one)) {
      line.raw = line.body = one;
      ++line.number;
      parser->on_line(line, {}, ev);
    }
  }
  void feed_file(const std::string& name, int rank) {
    std::ifstream in(std::string(HOLTER_SOURCE_DIR) + "/tests/data/nccl_2.28.9/logs/" + name);
    ASSERT_TRUE(in) << name;
    std::stringstream text;
    text << in.rdbuf();
    feed(text.str(), rank);
  }
  std::vector<std::string> facts(std::string_view key) const {
    std::vector<std::string> out;
    for (const auto& f : ev.nccl.facts) {
      if (ev.text(f.key) == key) out.emplace_back(ev.text(f.value));
    }
    return out;
  }
  std::string field(const model::Event& e, std::string_view key) const {
    for (const auto& [k, v] : e.fields) {
      if (ev.text(k) == key) return std::string(ev.text(v));
    }
    return {};
  }
  std::vector<model::Event> events(std::string_view kind) const {
    std::vector<model::Event> out;
    for (const auto& e : ev.events) {
      if (ev.text(e.kind) == kind) out.push_back(e);
    }
    return out;
  }
  model::Evidence ev;
};

TEST_F(NcclLog, every_form_of_the_init_line) {
  feed(
      "n1:10:20 [0] NCCL INFO comm 0x55a0 rank 3 nranks 16 cudaDev 3 busId c3000 - Init COMPLETE\n"
      "n1:10:20 [0] NCCL INFO comm 0x55a1 rank 3 nranks 16 cudaDev 3 nvmlDev 5 busId c3000 commId 0x9a - Init START\n"
      "n1:10:20 [0] NCCL INFO ncclCommSplit comm 0x55a2 rank 1 nranks 2 cudaDev 3 nvmlDev 5 busId c3000 parent "
      "0x55a1 splitCount 4 color 7 key 1 - Init START\n"
      "n1:10:20 [0] NCCL INFO [Rank 2] ncclCommInitRankConfig comm 0x55a3 rank 2 nranks 4 cudaDev 2 nvmlDev 2 "
      "busId 1000 commId 0x77 - Init START\n"
      "n1:10:20 [0] NCCL INFO comm 0x55a0 rank 3 nranks 16 cudaDev 3 busId c3000 - Abort COMPLETE\n");
  ASSERT_THAT(ev.nccl.comms, SizeIs(4));
  EXPECT_EQ(ev.nccl.comms[0].stage, InitStage::kAborted);
  EXPECT_EQ(ev.nccl.comms[0].rank, 3);
  EXPECT_EQ(ev.nccl.comms[0].nranks, 16);
  EXPECT_EQ(ev.nccl.comms[0].cuda_dev, 3);
  EXPECT_EQ(ev.text(ev.nccl.comms[0].bus_id), "c3000");
  EXPECT_EQ(ev.nccl.comms[1].stage, InitStage::kInitStart);
  EXPECT_EQ(ev.nccl.comms[1].nvml_dev, 5);
  EXPECT_EQ(ev.text(ev.nccl.comms[2].comm_id), "0x9a/split 4 color 7");
  EXPECT_EQ(ev.text(ev.nccl.comms[3].comm_id), "0x77");
}

TEST_F(NcclLog, heads_with_and_without_wrapping) {
  feed(
      "[2026-01-02 08:11:20] gn-4.cluster:7:9 [6] transport/net_ib.cc:98 NCCL WARN Something odd\n"
      "2026-07-03T08:11:20Z gn4:8:9 [3] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
      "NCCL version 2.10.3+cuda11.3\n"
      "08:11:20 NCCL INFO cudaDriverVersion 12040\n");
  ASSERT_THAT(events("nccl.warn"), SizeIs(1));
  const auto warn = events("nccl.warn")[0];
  EXPECT_EQ(ev.text(warn.node), "gn-4.cluster");
  EXPECT_EQ(warn.pid, 7);
  EXPECT_EQ(ev.text(warn.gpu), "6");
  EXPECT_EQ(field(warn, "where"), "transport/net_ib.cc:98");
  EXPECT_THAT(facts("version"), ElementsAre("2.21.5+cuda12.4", "2.10.3+cuda11.3"));
  EXPECT_EQ(ev.text(ev.nccl.facts[0].host), "gn4");
  EXPECT_EQ(ev.nccl.facts.back().pid, -1);
}

TEST_F(NcclLog, connections) {
  feed(
      "n1:1:2 [0] NCCL INFO Channel 03/1 : 0[7000] -> 8[b3000] [send] via NET/IB/1(3)/GDRDMA/Shared\n"
      "n1:1:2 [0] NCCL INFO Channel 00 : 4[8] -> 5[9] via P2P/IPC/read\n"
      "n1:1:2 [0] NCCL INFO Channel 00/0 : 4[8] -> 5[9] via SHM/direct/direct\n"
      "n1:1:2 [0] NCCL INFO Channel 00/0 : 9[1] -> 4[8] [receive] via NET/AWS Libfabric/2\n");
  ASSERT_THAT(ev.nccl.edges, SizeIs(4));
  const auto& ib = ev.nccl.edges[0];
  EXPECT_EQ(ib.channel, 3);
  EXPECT_EQ(ib.from, 0);
  EXPECT_EQ(ib.to, 8);
  EXPECT_TRUE(ib.gdr);
  EXPECT_TRUE(ib.is_send);
  EXPECT_EQ(ib.device, 1);
  EXPECT_EQ(ib.transport, Transport::kNetIb);
  EXPECT_EQ(ev.nccl.edges[1].transport, Transport::kP2p);
  EXPECT_FALSE(ev.nccl.edges[1].has_direction);
  EXPECT_EQ(ev.nccl.edges[2].transport, Transport::kShm);
  EXPECT_EQ(ev.nccl.edges[3].transport, Transport::kNetPlugin);
  EXPECT_FALSE(ev.nccl.edges[3].is_send);
  EXPECT_EQ(ev.nccl.edges[3].device, 2);
}

TEST_F(NcclLog, rings_and_trees_that_are_cut) {
  feed(
      "n1:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 64 cudaDev 0 busId 1000 - Init START\n"
      "n1:1:2 [0] NCCL INFO Channel 00/02 :    0   1   2   3...\n"
      "n1:1:2 [0] NCCL INFO Channel 01/02 :    0   1   2   3\n"
      "n1:1:2 [0] NCCL INFO Ring 00 : 7 -> 0 -> 1\n"
      "n1:1:2 [0] NCCL INFO Tree 5 : -1 -> 0 -> 1/4/-1\n");
  ASSERT_THAT(ev.nccl.rings, SizeIs(3));
  EXPECT_TRUE(ev.nccl.rings[0].truncated);
  EXPECT_THAT(ev.nccl.rings[0].order, ElementsAre(0, 1, 2));
  EXPECT_TRUE(ev.nccl.rings[1].truncated);
  EXPECT_EQ(ev.nccl.rings[2].prev, 7);
  EXPECT_EQ(ev.nccl.rings[2].next, 1);
  EXPECT_EQ(ev.nccl.trees[0].up, -1);
  EXPECT_THAT(ev.nccl.trees[0].down, ElementsAre(1, 4, -1));

  std::string trees = "n1:1:2 [0] NCCL INFO Trees";
  int channels = 0;
  for (; trees.size() < 1010; ++channels) trees += " [" + std::to_string(channels) + "] 1/2/-1->0->10";
  const auto before = ev.nccl.trees.size();
  feed(trees.substr(0, 1023));
  EXPECT_EQ(ev.nccl.trees.size() - before, static_cast<std::size_t>(channels - 1)) << "the last may be cut";
}

TEST_F(NcclLog, network_and_environment) {
  feed(
      "n1:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_3:1/RoCE/SHARP [RO]; OOB ib0:10.1.2.3<0>\n"
      "n1:1:2 [0] NCCL INFO Using network IB\n"
      "n1:1:2 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 3.\n"
      "n1:1:2 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 3.\n"
      "n1:1:2 [0] NCCL INFO Bootstrap : Using [0]eth0:10.0.0.1<0>\n"
      "n1:1:2 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0> [1]eth1:10.0.1.1<0>\n");
  EXPECT_THAT(facts("hca"), ElementsAre("mlx5_0:1/IB", "mlx5_3:1/RoCE/SHARP"));
  EXPECT_THAT(facts("oob"), ElementsAre("ib0:10.1.2.3<0>"));
  EXPECT_THAT(facts("network"), ElementsAre("IB"));
  EXPECT_THAT(facts("env.NCCL_IB_GID_INDEX"), ElementsAre("3"));
  EXPECT_THAT(facts("ifname"), ElementsAre("eth0:10.0.0.1<0>"));
  EXPECT_THAT(facts("socket_device"), ElementsAre("eth0:10.0.0.1<0>", "eth1:10.0.1.1<0>"));
}

TEST_F(NcclLog, completions_of_all_eras) {
  feed(
      "a:1:2 [3] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.9.8.6<52114> with error 12, "
      "opcode 1, len 0, vendor err 129\n"
      "a:1:2 [3] transport/net_ib.cc:1295 NCCL WARN NET/IB: Got completion from peer 10.9.8.6<52114> with status=5 "
      "opcode=0 len=0 vendor err 249 (Recv) localGid fe80::1 remoteGids fe80::2 hca mlx5_4\n"
      "a:1:2 [3] transport/net_ib.cc:1295 NCCL WARN NET/IB: Got completion from peer 10.9.8.6<52114> with "
      "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RDMA_WRITE(1) reqSize=0 vendor_err=129 req_type=Send hca mlx5_4\n");
  const auto got = events("nccl.ib_completion");
  ASSERT_THAT(got, SizeIs(3));
  for (const auto& e : got) EXPECT_EQ(field(e, "peer"), "10.9.8.6<52114>");
  EXPECT_EQ(field(got[0], "status"), "12");
  EXPECT_EQ(field(got[0], "vendor_err"), "129");
  EXPECT_EQ(field(got[1], "status_name"), "work request flushed");
  EXPECT_EQ(field(got[1], "hca"), "mlx5_4");
  EXPECT_EQ(field(got[1], "type"), "receive");
  EXPECT_EQ(field(got[2], "status"), "12");
  EXPECT_EQ(field(got[2], "vendor_err"), "129");
  EXPECT_EQ(field(got[2], "type"), "send");
}

TEST_F(NcclLog, async_and_socket_errors) {
  feed(
      "a:1:2 [3] transport/net_ib.cc:98 NCCL WARN NET/IB : Got async event : port error\n"
      "a:1:2 [3] transport/net_ib.cc:98 NCCL WARN NET/IB : mlx5_3:1 Got non-fatal async event: port active(9)\n"
      "a:1:2 [3] transport/net_ib.cc:98 NCCL WARN NET/IB : mlx5_0:2 async fatal event on QP (0x7f): local access\n"
      "a:1:2 [3] misc/socket.cc:46 NCCL WARN socketProgressOpt: Call to send to 127.0.0.1<39579> failed : Connection "
      "reset by peer\n"
      "a:1:2 [3] misc/socket.cc:71 NCCL WARN socketProgress: Connection closed by remote peer localhost<45786>\n"
      "a:1:2 [3] misc/socket.cc:511 NCCL WARN socketStartConnect: Connect to 10.0.0.7<4000> failed : No route to host\n"
      "a:1:2 [3] NCCL INFO Call to connect to 10.0.0.8<4000> returned Connection refused, retrying\n"
      "a:1:2 [3] NCCL INFO proxy.cc:965 -> 6 [Progress Thread]\n");
  const auto async = events("nccl.async_event");
  ASSERT_THAT(async, SizeIs(3));
  EXPECT_EQ(field(async[0], "event"), "port error");
  EXPECT_EQ(field(async[1], "device"), "mlx5_3");
  EXPECT_EQ(field(async[1], "port"), "1");
  EXPECT_EQ(field(async[1], "fatality"), "non-fatal");
  EXPECT_EQ(field(async[2], "fatality"), "fatal");
  const auto sockets = events("nccl.socket_error");
  ASSERT_THAT(sockets, SizeIs(4));
  EXPECT_EQ(field(sockets[0], "peer"), "127.0.0.1<39579>");
  EXPECT_EQ(field(sockets[0], "error"), "reset");
  EXPECT_EQ(field(sockets[1], "error"), "closed");
  EXPECT_EQ(field(sockets[2], "error"), "unreachable");
  EXPECT_EQ(field(sockets[3], "error"), "refused");
  EXPECT_EQ(field(sockets[3], "peer"), "10.0.0.8<4000>");
  ASSERT_THAT(events("nccl.propagation"), SizeIs(1));
  EXPECT_EQ(field(events("nccl.propagation")[0], "code"), "6");
}

TEST_F(NcclLog, queue_pair_call_names_device_and_gid) {
  feed(
      "a:1:2 [3] misc/ibvwrap.cc:252 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev "
      "mlx5_2:1, curr state INIT, next state RTR, local GID index 0, local GID fe80::a, remote GID fe80::b\n");
  const auto got = events("nccl.ib_call");
  ASSERT_THAT(got, SizeIs(1));
  EXPECT_EQ(field(got[0], "call"), "modify_qp");
  EXPECT_EQ(field(got[0], "reason"), "110 Connection timed out");
  EXPECT_EQ(field(got[0], "device"), "mlx5_2:1");
  EXPECT_EQ(field(got[0], "gid_index"), "0");
}

TEST_F(NcclLog, operation_counts_are_hexadecimal) {
  feed(
      "a:1:2 [0] NCCL INFO comm 0x7f rank 0 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE\n"
      "a:1:2 [0] NCCL INFO AllReduce: opCount 1f sendbuff 0x1 recvbuff 0x2 count 4 datatype 7 op 0 root 0 comm 0x7f "
      "[nranks=2] stream 0x9\n");
  EXPECT_EQ(ev.nccl.comms[0].op_count, 31);
  EXPECT_EQ(ev.text(ev.nccl.comms[0].last_op), "AllReduce");
}

TEST_F(NcclLog, a_healthy_job_of_8_ranks) {
  for (int r = 0; r < 8; ++r) feed_file("r8_4host/rank" + std::to_string(r) + ".log", r);
  ASSERT_THAT(ev.nccl.comms, SizeIs(8));
  for (int r = 0; r < 8; ++r) {
    const auto& c = ev.nccl.comms[static_cast<std::size_t>(r)];
    EXPECT_EQ(c.rank, r);
    EXPECT_EQ(value(c.global_rank), r);
    EXPECT_EQ(c.nranks, 8);
    EXPECT_EQ(c.nodes, 4);
    EXPECT_EQ(c.local_ranks, 2);
    EXPECT_EQ(c.stage, InitStage::kDestroyed);
    EXPECT_EQ(ev.text(c.comm_id), "0xbee9358221268c87");
  }
  ASSERT_THAT(ev.nccl.rings, SizeIs(2));
  for (const auto& ring : ev.nccl.rings) {
    EXPECT_FALSE(ring.truncated);
    EXPECT_THAT(ring.order, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  }
  EXPECT_THAT(ev.nccl.trees, SizeIs(16));
  EXPECT_THAT(facts("network"), SizeIs(8));
  EXPECT_THAT(facts("env.NCCL_HOSTID"), IsSupersetOf({"host0", "host3"}));
  EXPECT_THAT(ev.events, SizeIs(0));
}

TEST_F(NcclLog, what_failed_jobs_say) {
  feed_file("errors/badif/rank0.log", 0);
  EXPECT_THAT(events("nccl.no_interface"), SizeIs(1));
  feed_file("errors/dupgpu/rank1.log", 1);
  ASSERT_THAT(events("nccl.duplicate_gpu"), SizeIs(1));
  EXPECT_EQ(field(events("nccl.duplicate_gpu")[0], "first"), "1");
  EXPECT_EQ(field(events("nccl.duplicate_gpu")[0], "second"), "0");
  EXPECT_EQ(field(events("nccl.duplicate_gpu")[0], "device"), "10000");
  feed_file("errors/missingrank/rank0.log", 0);
  EXPECT_EQ(ev.nccl.comms.back().stage, InitStage::kInitStart);
  feed_file("errors/hang_abort/rank2.log", 2);
  EXPECT_EQ(ev.nccl.comms.back().stage, InitStage::kAborted);
  feed_file("errors/peerkilled/rank1.log", 1);
  ASSERT_THAT(events("nccl.socket_error"), SizeIs(1));
  EXPECT_EQ(field(events("nccl.socket_error")[0], "error"), "reset");
  EXPECT_EQ(ev.nccl.comms.back().stage, InitStage::kComplete);
}

}  // namespace
}  // namespace holter::formats::nccl
