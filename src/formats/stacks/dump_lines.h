// SPDX-License-Identifier: Apache-2.0
// What a header line of a text dump says: which tool, process, thread, ranks. Pure functions.
//
// Sources of the formats: py-spy 0.3/0.4 (dump), CPython faulthandler, pystack 1.x, gdb 13
// (thread apply all bt), elfutils eu-stack 0.188, procps pstack, /proc/PID/stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/rank_set.h"

namespace holter::formats::stacks {

// How the frames below a header are written, and in which order.
enum class Style : std::uint8_t {
  kNone,
  kPySpy,         // func (file:line), innermost first
  kFaulthandler,  // File "x", line N in func, innermost first
  kTraceback,     // File "x", line N, in func, outermost first
  kNative,        // #N ..., innermost first
  kKernel,        // [<0>] func+0x/0x, innermost first
};

enum class Head : std::uint8_t {
  kSection,  // a title that names a rank: "=== rank 3 (gn7) ==="
  kProcess,  // the threads below belong to this process
  kParent,   // py-spy: "Parent Process 4470: python train.py"
  kDetail,   // belongs to the dump and says nothing: "Python v3.11.9 (...)"
  kNote,     // text to keep with the next stack: "Fatal Python error: Aborted"
  kThread,   // frames follow
};

struct DumpLine {
  Head head = Head::kDetail;
  Style style = Style::kNone;
  std::string_view tool;
  std::int32_t pid = -1;
  std::int32_t parent_pid = -1;
  std::int32_t rank = -1;
  std::int32_t thread_number = -1;  // gdb: "Thread 2"
  std::int64_t tid = -1;
  std::string_view text;  // process, thread name or note
  model::RankSet ranks;
  char state = 0;
  bool active = false;
  bool owns_gil = false;
};

// The meaning of one line outside of a stack, or nothing.
std::optional<DumpLine> dump_line(std::string_view body);

}  // namespace holter::formats::stacks
