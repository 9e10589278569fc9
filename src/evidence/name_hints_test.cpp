// SPDX-License-Identifier: Apache-2.0
#include "evidence/name_hints.h"

#include <gtest/gtest.h>

namespace holter::evidence {
namespace {

TEST(NameHints, ranks_of_single_names) {
  const std::pair<const char*, int> cases[] = {
      {"rank3.log", 3},
      {"Rank_03.txt", 3},
      {"nccl_trace_rank_2.json", 2},
      {"comm_lib_trace_rank_5", 5},
      {"hccl_trace_rank_0", 0},
      {"nccl_trace_rank_gn7_12", 12},
      {"nccl_trace_rank_ip-10-0-3-17.ec2.internal_9.pickle", 9},
      {"_dump_12", 12},
      {"fr_dump_4.pkl", 4},
      {"node0_rank6.log", 6},
      {"host-rank-7", 7},
      {"gn4-rank-7.log.gz", 7},
      {"rank2.worker3.pyspy.txt", 2},
      {"rank_5/stderr.log", 5},
      {"run.tar.gz!global_rank_11/out.txt", 11},
      {"worker_3.log", -1},
      {"0.log", -1},
      {"local_rank3.log", -1},
      {"mp_rank_00_model_states.pt", -1},
      {"core_dump_1234", -1},
      {"slurm-123_7.out", -1},
      {"train_20260518.log", -1},
      {"nccl.4711.log", -1},
      {"pg_rank_3.txt", -1},
      {"rank20260518073102.log", -1},
      {"franklin3.log", -1},
      {"ranking2.csv", -1},
  };
  for (const auto& [path, rank] : cases) EXPECT_EQ(hint_of(path).rank, rank) << path;
}

TEST(NameHints, nodes) {
  const std::pair<const char*, const char*> cases[] = {
      {"dmesg_gn7.txt", "gn7"},
      {"dmesg-10.44.9.26.log", "10.44.9.26"},
      {"host_mem_10.44.9.26.csv", "10.44.9.26"},
      {"gn7/dmesg.txt", "gn7"},
      {"bundle/gn7/nvidia-smi-q.txt.gz", "gn7"},
      {"modprobe_ln37.log", "ln37"},
      {"ss_node2.txt", "node2"},
      {"node2_worker_attempt1.log", "node2"},
      {"dgx-a100-03_dmesg.txt", "dgx-a100-03"},
      {"dmesg_ip-10-0-3-17.us-west-2.compute.internal.log", "ip-10-0-3-17.us-west-2.compute.internal"},
      {"nccl_debug.gn7.12345.log", "gn7"},
      {"nccl_trace_rank_gn7_12", "gn7"},
      {"gpu-a-3-rank-7.log", ""},  // "gpu-.." may be a device
      {"cx-a-3-rank-7.log", "cx-a-3"},
      {"rank3.log", ""},
      {"case12/dmesg.txt", ""},
      {"dmesg.1", ""},
      {"nccl_trace_rank_2.json", ""},
      {"traceback-injected-3.log", ""},
      {"run3/train.log", ""},
  };
  for (const auto& [path, node] : cases) EXPECT_EQ(hint_of(path).node, node) << path;
}

TEST(NameHints, ranks_that_no_job_has_are_none) {
  for (const auto* path : {"nccl_trace_rank_99999999999999999999", "rank4000000000.log", "a/rank_1234567/x.log"}) {
    EXPECT_TRUE(hint_of(path).impossible_rank) << path;
    EXPECT_EQ(hint_of(path).rank, -1) << path;
  }
  for (const auto* path : {"rank_16383.log", "rank_20260101.log", "frank_1234567.log", "rank3_1234567.log"}) {
    EXPECT_FALSE(hint_of(path).impossible_rank) << path;
  }
}

TEST(NameHints, attempts) {
  EXPECT_EQ(hint_of("node2_worker_attempt1.log").attempt, 1);
  EXPECT_EQ(hint_of("logs/restart_2/rank0.log").attempt, 2);
  EXPECT_EQ(hint_of("attempt_0/3/stderr.log").attempt, 0);
  EXPECT_EQ(hint_of("rank0.log").attempt, -1);
}

std::vector<int> ranks(const std::vector<std::string>& paths) {
  std::vector<int> out;
  for (const auto& hint : hints_of(paths)) out.push_back(hint.rank);
  return out;
}

TEST(NameHints, numbers_that_cover_0_to_n_are_ranks) {
  EXPECT_EQ(ranks({"0.log", "1.log", "2.log"}), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(ranks({"slurm-812_0.out", "slurm-812_1.out"}), (std::vector<int>{0, 1}));
  EXPECT_EQ(ranks({"worker_1.log", "worker_0.log"}), (std::vector<int>{1, 0}));
  EXPECT_EQ(ranks({"worker_1.log", "worker_3.log"}), (std::vector<int>{-1, -1}));
  EXPECT_EQ(ranks({"issue_0.csv", "issue_1.csv"}), (std::vector<int>{-1, -1}));
  EXPECT_EQ(ranks({"job-100.log", "job-101.log"}), (std::vector<int>{-1, -1}));
  EXPECT_EQ(ranks({"stack_0.txt"}), (std::vector<int>{-1}));
}

TEST(NameHints, ranks_that_repeat_on_every_node_are_local) {
  EXPECT_EQ(ranks({"node0_rank0.log", "node0_rank1.log", "node1_rank0.log", "node1_rank1.log"}),
            (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(ranks({"node0_rank0.log", "node0_rank1.log", "node1_rank2.log", "node1_rank3.log"}),
            (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(ranks({"node3_rank0.log", "node7_rank0.log"}), (std::vector<int>{-1, -1}));
  EXPECT_EQ(ranks({"node1_rank0.log", "node1_rank0.pyspy.txt"}), (std::vector<int>{0, 0}));
}

TEST(NameHints, torchrun_folders) {
  EXPECT_EQ(ranks({"run_a/attempt_0/0/stderr.log", "run_a/attempt_0/1/stderr.log", "run_a/attempt_1/1/stdout.log"}),
            (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(ranks({"n0/attempt_0/0/stderr.log", "n1/attempt_0/0/stderr.log"}), (std::vector<int>{0, 1}));
  EXPECT_EQ(ranks({"gx/attempt_0/0/stderr.log", "gy/attempt_0/0/stderr.log"}), (std::vector<int>{-1, -1}));
}

TEST(NameHints, odd_names_do_no_harm) {
  for (const char* path : {"", "/", "!", "///", "rank", "rank_", ".log", "999999999999999999999", "\xff\xfe"}) {
    EXPECT_EQ(hints_of({path}).size(), 1u);
  }
}

TEST(NameHints, host_words) {
  const auto words = host_words("logs/train_gn-7.a.log");
  EXPECT_NE(std::find(words.begin(), words.end(), "gn-7"), words.end());
}

}  // namespace
}  // namespace holter::evidence
