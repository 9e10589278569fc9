// SPDX-License-Identifier: Apache-2.0
// All stacks of the job with their meaning, and the words that findings about them share.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnoser.h"
#include "hang/stack_meaning.h"
#include "hang/stack_threads.h"

namespace holter::diagnose {

struct StackView {
  std::vector<hang::ThreadStack> threads;
  std::vector<hang::StackMeaning> meanings;            // as many as threads
  std::map<std::int32_t, std::uint32_t> main_of;       // rank -> its main thread
  model::RankSet in_collective, on_device, elsewhere;  // by main threads
  model::RankSet timed_out;                            // ranks whose watchdog reported a timeout
  // Ranks that are shown to wait for others.
  model::RankSet waiting() const { return in_collective | timed_out; }
};

StackView view_stacks(const Context& context);

// "barrier (ac/run.py:233)": the innermost frame of the user's code, else the innermost frame.
std::string place(const Context& context, const StackView& view, std::uint32_t thread);
// The function of the innermost frame that the match is about: "all_reduce".
std::string matched_function(const Context& context, const StackView& view, std::uint32_t thread,
                             const hang::StackMatch& match);
// The head line of a sample with its innermost frames, "Thread 71 ... : f (a.py:1) < g (b.py:2)".
model::Citation cite_stack(const Context& context, const StackView& view, std::uint32_t thread, std::string_view why);

// A line of a source excerpt near a frame of the thread.
struct SourceLine {
  const model::Fact* fact = nullptr;
  std::string code;  // without indentation
};
// The `if` that only one rank passes, with the calls below it, within 15 lines around a frame.
struct Guard {
  SourceLine condition;
  std::vector<SourceLine> body;
  explicit operator bool() const { return condition.fact != nullptr; }
};
Guard rank_guard(const Context& context, const StackView& view, std::uint32_t thread);

// Owner of that name, kUnknown for others.
model::Owner owner_of(std::string_view name);

// What the diagnosers of stacks look for; each adds findings.
void diagnose_odd_ranks(const Context& context, const StackView& view, Output& out);
void diagnose_stack_divergence(const Context& context, const StackView& view, Output& out);
void diagnose_teardown_after_oom(const Context& context, const StackView& view, Output& out);
void diagnose_gil(const Context& context, const StackView& view, Output& out);

}  // namespace holter::diagnose
