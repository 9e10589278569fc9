// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "formats/stacks/testing.h"

namespace holter::formats::stacks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::parse_text;

// "f@file:line", outermost first.
std::vector<std::string> frames(const model::Evidence& ev, std::size_t i) {
  std::vector<std::string> out;
  for (const auto& f : ev.stacks.at(i).frames) {
    std::string text(ev.text(f.function));
    if (f.file != model::StrId::kEmpty) text += "@" + std::string(ev.text(f.file));
    if (f.line >= 0) text += ":" + std::to_string(f.line);
    out.push_back(text);
  }
  return out;
}

TEST(StackParser, py_spy_threads_states_and_process) {
  const auto ev = parse_text(
      "Process 71: python train.py\nPython v3.11.9 (/opt/python3.11)\n\n"
      "Thread 71 (active+gil): \"MainThread\"\n    step (a/b.py:12)\n    <module> (train.py:7)\n"
      "Thread 0x7F01 (idle): \"pin (x)\"\n    wait (threading.py:331)\n\nstep 4 done (took: 5)\n",
      "rank4.txt", 4);
  ASSERT_EQ(ev.stacks.size(), 2u);
  EXPECT_THAT(frames(ev, 0), ElementsAre("<module>@train.py:7", "step@a/b.py:12"));
  EXPECT_TRUE(ev.stacks[0].owns_gil);
  EXPECT_EQ(ev.stacks[0].role, model::ThreadRole::kMain);
  EXPECT_EQ(ev.stacks[0].pid, 71);
  EXPECT_EQ(value(ev.stacks[0].rank), 4);
  EXPECT_EQ(ev.stacks[0].at.pos, 4u);
  EXPECT_EQ(ev.stacks[0].line_count, 3u);
  EXPECT_EQ(ev.stacks[1].tid, 0x7F01);
  EXPECT_EQ(ev.text(ev.stacks[1].thread_name), "pin (x)");
  EXPECT_FALSE(ev.stacks[1].active);
}

TEST(StackParser, py_spy_locals_and_native_frames_are_told_apart) {
  const auto ev = parse_text(
      "Thread 9 (idle): \"MainThread\"\n"
      "    __lll_lock_wait (libc.so.6)\n"
      "    cv::imdecode(cv::_InputArray const&, int) (cv2.abi3.so)\n"
      "    load (data.py:3)\n"
      "        Arguments:\n            path: \"x (evil.py:9)\"\n        Locals:\n            n: 4\n"
      "    <module> (run.py:1)\n");
  EXPECT_THAT(frames(ev, 0),
              ElementsAre("<module>@run.py:1", "load@data.py:3",
                          "cv::imdecode(cv::_InputArray const&, int)@cv2.abi3.so", "__lll_lock_wait@libc.so.6"));
  EXPECT_EQ(ev.stacks[0].frames.back().kind, model::FrameKind::kNative);
  EXPECT_EQ(ev.stacks[0].frames.front().kind, model::FrameKind::kPython);
}

TEST(StackParser, a_remark_behind_a_frame_is_kept) {
  const auto ev =
      parse_text("Thread 9 (active+gil): \"MainThread\"\n    _collect (gc)  # generation 2\n    f (a.py:1)\n");
  EXPECT_THAT(frames(ev, 0), ElementsAre("f@a.py:1", "_collect@gc"));
  EXPECT_EQ(ev.text(ev.stacks[0].note), "generation 2");
}

TEST(StackParser, loader_workers_know_parent_and_index) {
  const auto ev = parse_text(
      "Process 519: python train.py  (DataLoader worker 3, ppid 470)\n\nThread 519 (idle): \"MainThread\"\n    f (a.py:1)\n"
      "Process 520: python train.py\nParent Process 470: python train.py\n\nThread 520 (idle): \"MainThread\"\n    g (a.py:2)\n");
  ASSERT_EQ(ev.stacks.size(), 2u);
  EXPECT_EQ(ev.stacks[0].parent_pid, 470);
  EXPECT_EQ(ev.stacks[0].worker, 3);
  EXPECT_EQ(ev.stacks[0].role, model::ThreadRole::kWorker);
  EXPECT_EQ(ev.stacks[1].parent_pid, 470);
  EXPECT_EQ(ev.stacks[1].role, model::ThreadRole::kMain);
}

TEST(StackParser, gdb_lists_threads_backwards_and_names_the_lock) {
  const auto ev = parse_text(
      "Attaching to process 88\n[New LWP 90]\n\n"
      "Thread 2 (Thread 0x7f10 (LWP 90) \"pt_autograd_0\"):\n"
      "#0  0x00007f in pthread_cond_wait@@GLIBC_2.3.2 () from /lib/libpthread.so.0\n"
      "#1  0x00007f in std::thread::_State_impl<void (*)(int)>::_M_run() (this=0x1) at /usr/include/c++/thread:215\n"
      "        id = 4\n\n"
      "Thread 1 (Thread 0x7f11 (LWP 88)):\n"
      "#0  __lll_lock_wait_private (futex=0x7f2b <__exit_funcs_lock>) at ./nptl/lowlevellock.c:34\n"
      "#1  main () at m.c:1\n",
      "rank2.worker3.gdb.txt", 2);
  ASSERT_EQ(ev.stacks.size(), 2u);
  EXPECT_EQ(ev.stacks[0].pid, 88);
  EXPECT_EQ(ev.stacks[0].tid, 90);
  EXPECT_THAT(frames(ev, 0),
              ElementsAre("std::thread::_State_impl<void (*)(int)>::_M_run()@/usr/include/c++/thread:215",
                          "pthread_cond_wait@@GLIBC_2.3.2@/lib/libpthread.so.0"));
  EXPECT_EQ(ev.text(ev.stacks[1].note), "__exit_funcs_lock");
  EXPECT_EQ(ev.stacks[1].worker, 3);
  EXPECT_EQ(value(ev.stacks[1].rank), 2);
}

TEST(StackParser, gdb_without_process_takes_the_id_of_thread_1) {
  const auto ev =
      parse_text("Thread 2 (LWP 90):\n#0  0x1 in f () from a.so\n\nThread 1 (LWP 88):\n#0  0x1 in g () from a.so\n");
  ASSERT_EQ(ev.stacks.size(), 2u);
  EXPECT_EQ(ev.stacks[0].pid, 88);
  EXPECT_EQ(ev.stacks[1].role, model::ThreadRole::kMain);
}

TEST(StackParser, eu_stack_with_modules_and_sources) {
  const auto ev = parse_text(
      "PID 470 - process\nTID 470:\n"
      "#0  0x00007f2b90c45a1b __futex_abstimed_wait_common - /usr/lib/libc.so.6\n    ./nptl/futex-internal.c:57:12\n"
      "#1  0x00007f2b90c45a9d c10d::Work::wait(std::chrono::duration<long>) - /opt/libtorch_cpu.so\n"
      "#2  0x0000000000512345 - /usr/bin/python3.11\n"
      "TID 471:\n#0  0x00007f2b clock_nanosleep\n");
  ASSERT_EQ(ev.stacks.size(), 2u);
  EXPECT_THAT(frames(ev, 0), ElementsAre("??@/usr/bin/python3.11",
                                         "c10d::Work::wait(std::chrono::duration<long>)@/opt/libtorch_cpu.so",
                                         "__futex_abstimed_wait_common@./nptl/futex-internal.c:57"));
  EXPECT_EQ(ev.stacks[0].role, model::ThreadRole::kMain);
  EXPECT_EQ(ev.text(ev.stacks[0].tool), "eu-stack");
}

TEST(StackParser, faulthandler_in_the_middle_of_a_log) {
  const auto ev = parse_text(
      "step 3\nFatal Python error: Aborted\n\n"
      "Thread 0x00007f01 [pin_memory] (most recent call first):\n  <no Python frame>\n\n"
      "Current thread 0x00007f02 (most recent call first):\n"
      "  File \"/opt/train me.py\", line 40 in step\n  File \"/opt/train me.py\", line 9 in <module>\n"
      "step 4\n  File \"x.py\", line 1 in f\n");
  ASSERT_EQ(ev.stacks.size(), 1u);
  EXPECT_THAT(frames(ev, 0), ElementsAre("<module>@/opt/train me.py:9", "step@/opt/train me.py:40"));
  EXPECT_THAT(ev.text(ev.stacks[0].note), IsEmpty());
}

TEST(StackParser, pystack_prints_outermost_first) {
  const auto ev = parse_text(
      "Traceback for thread 112 (python) [Has the GIL] (most recent call last):\n"
      "    (Python) File \"/a.py\", line 3, in <module>\n        main()\n"
      "    (C) File \"???\", line 0, in cudaHostUnregister (libcudart.so.12)\n");
  ASSERT_EQ(ev.stacks.size(), 1u);
  EXPECT_THAT(frames(ev, 0), ElementsAre("<module>@/a.py:3", "cudaHostUnregister (libcudart.so.12)@???:0"));
  EXPECT_TRUE(ev.stacks[0].owns_gil);
}

TEST(StackParser, kernel_stacks_with_titles_states_and_without) {
  const auto ev = parse_text(
      "==> /proc/470/task/471/stack <==\n[<0>] rpc_wait_bit_killable+0x1e/0xb0 [sunrpc]\n[<0>] nfs_wait+0x2/0x3\n\n"
      "State:\tD (disk sleep)\n[<ffffffff8110f6a5>] folio_wait_bit+0x13d/0x350\n");
  ASSERT_EQ(ev.stacks.size(), 2u);
  EXPECT_THAT(frames(ev, 0), ElementsAre("nfs_wait", "rpc_wait_bit_killable@sunrpc"));
  EXPECT_EQ(ev.stacks[0].tid, 471);
  EXPECT_EQ(ev.stacks[1].state, 'D');
  EXPECT_EQ(ev.stacks[1].frames[0].kind, model::FrameKind::kKernel);
}

TEST(StackParser, kernel_log_of_a_hung_task) {
  const auto ev = parse_text(
      "INFO: task python3:4470 blocked for more than 120 seconds.\n"
      "task:python3         state:D stack:0     pid:4470  ppid:1      flags:0x4002\n"
      "Call Trace:\n <TASK>\n __schedule+0x3/0x4\n ? nfs_wait_bit_killable+0x1/0x2 [nfs]\n </TASK>\nother\n");
  ASSERT_EQ(ev.stacks.size(), 1u);
  EXPECT_EQ(ev.stacks[0].pid, 4470);
  EXPECT_EQ(ev.stacks[0].state, 'D');
  EXPECT_THAT(frames(ev, 0), ElementsAre("nfs_wait_bit_killable@nfs", "__schedule"));
}

TEST(StackParser, groups_over_ranks_keep_their_remarks) {
  const auto ev = parse_text(
      "== group A: 6 ranks [0-3,8,9] ==\n    tolist (torch/_tensor.py:1108)\n    forward (m.py:29)\n"
      "  last enqueued: dp all_reduce seq 11\n\n"
      "ranks 4-7 (4):\n    f (a.py:1)\n");
  ASSERT_EQ(ev.stacks.size(), 2u);
  EXPECT_EQ(ev.stacks[0].ranks.to_string(), "0-3,8,9");
  EXPECT_EQ(ev.text(ev.stacks[0].note), "last enqueued: dp all_reduce seq 11");
  EXPECT_EQ(ev.stacks[1].ranks.to_string(), "4-7");
}

TEST(StackParser, titles_name_the_rank_of_what_follows) {
  const auto ev = parse_text(
      "=== rank 3 (gn7) ===\nProcess 7: python t.py\n\nThread 7 (idle): \"MainThread\"\n    f (a.py:1)\n"
      "=== rank 4 ===\nThread 8 (idle): \"MainThread\"\n    g (a.py:1)\n");
  ASSERT_EQ(ev.stacks.size(), 2u);
  EXPECT_EQ(value(ev.stacks[0].rank), 3);
  EXPECT_EQ(ev.stacks[0].pid, 7);
  EXPECT_EQ(value(ev.stacks[1].rank), 4);
  EXPECT_EQ(ev.stacks[1].pid, -1);
}

TEST(StackParser, ranks_of_one_log_interleave) {
  const auto ev = parse_text(
      "1|Thread 0x01 (most recent call first):\n2|Thread 0x02 (most recent call first):\n"
      "1|  File \"a.py\", line 1 in f\n2|  File \"b.py\", line 2 in g\n1|  File \"a.py\", line 3 in m\n");
  ASSERT_EQ(ev.stacks.size(), 2u);
  EXPECT_EQ(value(ev.stacks[0].rank), 1);
  EXPECT_THAT(frames(ev, 0), ElementsAre("m@a.py:3", "f@a.py:1"));
  EXPECT_THAT(frames(ev, 1), ElementsAre("g@b.py:2"));
}

TEST(StackParser, long_stacks_are_cut_and_said_so) {
  std::string text = "Thread 7 (idle): \"MainThread\"\n";
  for (int i = 0; i < 2000; ++i) text += "    f (a.py:" + std::to_string(i) + ")\n";
  const auto ev = parse_text(text);
  ASSERT_EQ(ev.stacks.size(), 1u);
  EXPECT_EQ(ev.stacks[0].frames.size(), kMaxFrames);
  ASSERT_EQ(ev.problems.size(), 1u);
  EXPECT_THAT(ev.problems[0].what, HasSubstr("1024"));
}

TEST(StackParser, prose_is_no_stack) {
  EXPECT_THAT(
      parse_text("Thread 5 started (idle)\nall ranks 0-3 are up\n  done (took: 5)\nProcess 3: x\n  a b\n").stacks,
      IsEmpty());
}

}  // namespace
}  // namespace holter::formats::stacks
