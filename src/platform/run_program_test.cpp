// SPDX-License-Identifier: Apache-2.0
#include "platform/run_program.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace holter::platform {
namespace {

using std::chrono::milliseconds;

RunResult shell(const std::string& script, RunOptions options = {}) {
  return run_program({"sh", "-c", script}, options);
}

TEST(RunProgram, output_error_and_status_are_apart) {
  const auto r = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(r.end, RunResult::End::kExited);
  EXPECT_EQ(r.code, 3);
  EXPECT_EQ(r.output, "out\n");
  EXPECT_EQ(r.error, "err\n");
  EXPECT_FALSE(r.ok());
}

TEST(RunProgram, a_missing_program_is_said_so) {
  EXPECT_EQ(run_program({"no-such-program-here"}, {}).end, RunResult::End::kNotFound);
}

TEST(RunProgram, a_program_that_hangs_is_killed_with_its_children_and_keeps_what_it_said) {
  const auto start = std::chrono::steady_clock::now();
  const auto r = shell("echo first; sleep 60 & sleep 60", {.deadline = milliseconds(200)});
  EXPECT_EQ(r.end, RunResult::End::kTimedOut);
  EXPECT_EQ(r.output, "first\n");
  EXPECT_FALSE(r.abandoned);
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(3000));
}

TEST(RunProgram, a_child_that_keeps_the_pipe_open_does_not_hold_us_up) {
  const auto r = shell("(trap '' HUP; sleep 60) & echo done", {.deadline = milliseconds(200)});
  EXPECT_EQ(r.end, RunResult::End::kTimedOut);
  EXPECT_EQ(r.output, "done\n");
}

TEST(RunProgram, endless_output_is_cut) {
  const auto r = shell("head -c 3000000 /dev/zero", {.max_output = 1000});
  EXPECT_TRUE(r.ok());
  EXPECT_TRUE(r.truncated);
  EXPECT_EQ(r.output.size(), 1000U);
}

TEST(RunProgram, a_signal_is_not_an_exit_status) {
  const auto r = shell("kill -SEGV $$");
  EXPECT_EQ(r.end, RunResult::End::kSignalled);
  EXPECT_EQ(r.code, SIGSEGV);
}

TEST(RunProgram, standard_input_is_empty) { EXPECT_EQ(shell("cat").output, ""); }

}  // namespace
}  // namespace holter::platform
