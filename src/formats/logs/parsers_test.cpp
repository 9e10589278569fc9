// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/logs/exit_parser.h"
#include "formats/logs/progress_parser.h"
#include "formats/logs/traceback_parser.h"
#include "formats/logs/watchdog_parser.h"
#include "formats/text/text_reader.h"

namespace holter::formats::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

model::Evidence read(std::string_view text, std::int32_t file_rank = -1) {
  model::Evidence ev;
  ev.files.emplace_back();
  ev.files[0].name_rank = model::GlobalRank{file_rank};
  const text::TextReader reader([] {
    std::vector<std::unique_ptr<text::LineParser>> parsers;
    parsers.push_back(make_exit_parser());
    parsers.push_back(make_progress_parser());
    parsers.push_back(make_traceback_parser());
    parsers.push_back(make_watchdog_parser());
    return parsers;
  });
  MemorySource source(text);
  reader.read(source, {model::FileId{0}, &ev.files[0]}, ev);
  return ev;
}

std::string field(const model::Evidence& ev, const model::Event& e, std::string_view key) {
  for (const auto& [k, v] : e.fields) {
    if (ev.text(k) == key) return std::string(ev.text(v));
  }
  return "";
}

std::vector<const model::Event*> of_kind(const model::Evidence& ev, std::string_view kind) {
  std::vector<const model::Event*> out;
  for (const auto& e : ev.events) {
    if (ev.text(e.kind) == kind) out.push_back(&e);
  }
  return out;
}

TEST(Watchdog, the_prefix_is_the_global_rank_and_the_head_the_group_rank) {
  const auto ev = read(
      "[rank6]:[E0416 21:40:35.35 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=16, NumelOut=32, Timeout(ms)=600000) ran for 600057 milliseconds "
      "before timing out.\n"
      "[rank6]:[E0416 21:40:35.36 ProcessGroupNCCL.cpp:2268] [PG ID 4 PG GUID 29(mesh_replicate) Rank 0]  failure detected "
      "by watchdog at work sequence id: 7 PG status: last enqueued work: 9, last completed work: 6\n");
  ASSERT_EQ(ev.watchdog.size(), 2u);
  const auto& caught = ev.watchdog[0];
  EXPECT_EQ(value(caught.rank), 6);
  EXPECT_EQ(value(caught.group_rank), 0);
  EXPECT_EQ(caught.seq, 7);
  EXPECT_EQ(ev.text(caught.op), "ALLREDUCE");
  EXPECT_EQ(caught.numel_in, 16);
  EXPECT_EQ(caught.numel_out, 32);
  EXPECT_EQ(caught.timeout_ms, 600000);
  EXPECT_EQ(caught.ran_ms, 600057);
  const auto& status = ev.watchdog[1];
  EXPECT_EQ(status.pg_id, 4);
  EXPECT_EQ(ev.text(status.pg_guid), "29");
  EXPECT_EQ(ev.text(status.pg_desc), "mesh_replicate");
  EXPECT_EQ(status.last_enqueued, 9);
  EXPECT_EQ(status.last_completed, 6);
}

TEST(Watchdog, lines_of_all_eras) {
  const auto ev = read(
      "[E ProcessGroupNCCL.cpp:828] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, "
      "TensorShape=[1048576], Timeout(ms)=1800000) ran for 1806986 milliseconds before timing out.\n"
      "[E ProcessGroupNCCL.cpp:1537] [PG 0 Rank 2] Timeout at NCCL work: 12, last enqueued NCCL work: 14, last completed "
      "NCCL work: 18446744073709551615.\n"
      "[rank5]:[E ProcessGroupNCCL.cpp:1537] [PG 0 (default_pg) Rank 5] Exception (either an error or timeout) detected by "
      "watchdog at work: 12, last enqueued NCCL work: 14, last completed NCCL work: 11.\n"
      "[E ProcessGroupNCCL.cpp:1537] [PG 3 (tp) Rank 1] Timeout at NCCL work: 4, last enqueued NCCL work: 4, last "
      "completed NCCL work: 3.\n");
  ASSERT_EQ(ev.watchdog.size(), 4u);
  EXPECT_EQ(value(ev.watchdog[0].rank), 3);
  EXPECT_EQ(ev.text(ev.watchdog[0].shape), "[1048576]");
  EXPECT_EQ(value(ev.watchdog[1].rank), 2);
  EXPECT_EQ(ev.watchdog[1].last_completed, -1);
  EXPECT_EQ(ev.watchdog[2].last_completed, 11);
  EXPECT_EQ(value(ev.watchdog[3].rank), -1);  // rank 1 of another group: the global rank is unknown
  EXPECT_EQ(value(ev.watchdog[3].group_rank), 1);
}

TEST(Watchdog, desync_and_heartbeat) {
  const auto ev = read(
      "[rank0]: - [1] Timeout at collective: ALLREDUCE, #42\n"
      "[rank0]: - To our best knowledge, ranks [3, 5] are the lagging ranks that caused this timeout. They never joined any collectives\n"
      "[rank0]: - To our best knowledge, ranks [2] finished collective #41, but didn't join collective #42\n"
      "[rank0]:   #42 started ranks: [0, 1] started ALLREDUCE\n"
      "[rank0]:[E ProcessGroupNCCL.cpp:1] [Rank 0] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress\n");
  const auto desync = of_kind(ev, "watchdog.desync");
  ASSERT_EQ(desync.size(), 3u);
  EXPECT_EQ(field(ev, *desync[0], "relation"), "timed_out");
  EXPECT_EQ(field(ev, *desync[1], "ranks"), "3, 5");
  EXPECT_EQ(field(ev, *desync[1], "relation"), "never_joined");
  EXPECT_EQ(field(ev, *desync[2], "relation"), "not_joined");
  EXPECT_EQ(field(ev, *desync[2], "seq"), "42");
  ASSERT_EQ(of_kind(ev, "watchdog.snapshot").size(), 1u);
  const auto stuck = of_kind(ev, "watchdog.stuck");
  ASSERT_EQ(stuck.size(), 1u);
  EXPECT_EQ(field(ev, *stuck[0], "seconds"), "480");
}

TEST(Traceback, innermost_user_frame_and_chain) {
  const auto ev = read(
      "Traceback (most recent call last):\n"
      "  File \"/w/data.py\", line 12, in read\n"
      "    return open(path)\n"
      "FileNotFoundError: [Errno 2] No such file or directory: '/w/x'\n"
      "\n"
      "The above exception was the direct cause of the following exception:\n"
      "\n"
      "Traceback (most recent call last):\n"
      "  File \"/w/train.py\", line 7, in main\n"
      "    step()\n"
      "  File \"/opt/lib/python3.10/site-packages/lib/x.py\", line 99, in call\n"
      "    raise RuntimeError(\"no batch\")\n"
      "RuntimeError: no batch\n"
      "bye\n");
  const auto all = of_kind(ev, "traceback");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(field(ev, *all[0], "exception"), "RuntimeError");
  EXPECT_EQ(field(ev, *all[0], "message"), "no batch");
  EXPECT_EQ(field(ev, *all[0], "cause_exception"), "FileNotFoundError");
  EXPECT_EQ(field(ev, *all[0], "function"), "main");
  EXPECT_EQ(field(ev, *all[0], "inner_function"), "call");
  EXPECT_EQ(all[0]->at.pos, 13u);
}

TEST(Traceback, interleaved_ranks_and_logger_heads) {
  const auto ev = read(
      "[rank1]: Traceback (most recent call last):\n"
      "[rank2]: Traceback (most recent call last):\n"
      "[rank1]:   File \"/w/a.py\", line 1, in f\n"
      "[rank2]:   File \"/w/b.py\", line 2, in g\n"
      "[rank2]: ValueError: two\n"
      "[rank1]: KeyError: 'one'\n"
      "ERROR 08-10 23:02:41 [core.py:1] Traceback (most recent call last):\n"
      "ERROR 08-10 23:02:41 [core.py:1]   File \"/w/c.py\", line 3, in h\n"
      "ERROR 08-10 23:02:41 [core.py:1]     h()\n"
      "ERROR 08-10 23:02:41 [core.py:1] OSError: three\n");
  std::vector<std::string> got;
  for (const auto* e : of_kind(ev, "traceback")) {
    got.push_back(std::to_string(value(e->rank)) + " " + field(ev, *e, "exception") + " " + field(ev, *e, "function"));
  }
  EXPECT_THAT(got, ::testing::UnorderedElementsAre("1 KeyError f", "2 ValueError g", "-1 OSError h"));
}

TEST(Exit, launchers_and_schedulers) {
  const auto ev = read(
      "E0709 09:21:05.118 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 2 (pid: 8120) of binary: /p\n"
      "srun: error: gn7: task 3: Killed\n"
      "srun: error: gn8: task 12: Exited with exit code 1\n"
      "slurmstepd: error: *** STEP 8812.0 ON gn7 CANCELLED AT 2026-05-18T07:31:02 DUE TO TIME LIMIT ***\n"
      "subprocess.CalledProcessError: Command died with <Signals.SIGSEGV: 11>.\n");
  std::vector<std::string> got;
  for (const auto* e : of_kind(ev, "exit")) {
    got.push_back(field(ev, *e, "tool") + " " + field(ev, *e, "how") + " " + field(ev, *e, "signal") + " " +
                  std::string(ev.text(e->node)));
  }
  EXPECT_THAT(got, ElementsAre("torchrun signal 9 ", "slurm signal 9 gn7", "slurm exitcode  gn8",
                               "slurm time_limit  gn7", "accelerate signal 11 "));
  EXPECT_EQ(of_kind(ev, "exit")[0]->pid, 8120);
}

TEST(Exit, ray_names_the_dead_actor_not_the_reporter) {
  const auto ev = read(
      "(Driver pid=5, ip=10.1.1.1) ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
      "\tclass_name: Trainer\n\tactor_id: 3f1c\n\tpid: 4711\n\tip: 10.1.1.9\n"
      "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: x\n");
  const auto exits = of_kind(ev, "exit");
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0]->pid, 4711);
  EXPECT_EQ(ev.text(exits[0]->node), "10.1.1.9");
  EXPECT_EQ(field(ev, *exits[0], "exit_type"), "SYSTEM_ERROR");
}

TEST(Exit, torchrun_table_names_rank_and_host) {
  const auto ev = read(
      "Root Cause (first observed failure):\n[0]:\n  time      : 2026-05-18_07:31:02\n  host      : gn7\n"
      "  rank      : 11 (local_rank: 3)\n  exitcode  : -9 (pid: 4711)\n");
  const auto exits = of_kind(ev, "exit");
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(value(exits[0]->rank), 11);
  EXPECT_EQ(ev.text(exits[0]->node), "gn7");
  EXPECT_EQ(field(ev, *exits[0], "signal"), "9");
}

TEST(Progress, last_step_by_rank_and_phases) {
  const auto ev = read(
      "[rank0]: epoch 0 step 10 loss 1.5\n[rank1]: epoch 0 step 10 loss 1.6\n[rank0]: epoch 0 step 11 loss 1.4\n"
      "[rank0]: epoch 0 done, 12 batches, 96 samples\n[rank0]: validation start\n[rank0]: validation batch 1\n");
  std::vector<std::string> steps;
  for (const auto* e : of_kind(ev, "progress.step")) {
    steps.push_back(std::to_string(value(e->rank)) + ":" + field(ev, *e, "step") + ":" + field(ev, *e, "loss"));
  }
  EXPECT_THAT(steps, ElementsAre("0:1:1.4", "1:10:1.6"));
  const auto ends = of_kind(ev, "progress.epoch_end");
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(field(ev, *ends[0], "batches"), "12");
  ASSERT_EQ(of_kind(ev, "progress.phase").size(), 1u);
  const auto hf = read("{'loss': 2.25, 'epoch': 0.5}\n 12%|#  | 120/1000 [00:12<01:40,  9.1it/s]\n", 4);
  const auto bar = of_kind(hf, "progress.step");
  ASSERT_EQ(bar.size(), 1u);
  EXPECT_EQ(field(hf, *bar[0], "step"), "120");
  EXPECT_EQ(value(bar[0]->rank), 4);
}

TEST(Logs, plain_text_has_no_events) { EXPECT_THAT(of_kind(read("hello\nworld\n"), "exit"), IsEmpty()); }

}  // namespace
}  // namespace holter::formats::logs
