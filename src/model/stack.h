// SPDX-License-Identifier: Apache-2.0
// Stacks of threads at one moment, from any tool.
#pragma once

#include <cstdint>
#include <vector>

#include "model/event.h"
#include "model/ids.h"
#include "model/rank_set.h"
#include "model/source.h"

namespace holter::model {

enum class FrameKind : std::uint8_t { kPython, kNative, kKernel };

struct Frame {
  StrId function = StrId::kEmpty;
  StrId file = StrId::kEmpty;  // Python file, native source, or module (library) when no source
  std::int32_t line = -1;
  FrameKind kind = FrameKind::kPython;
  bool operator==(const Frame&) const = default;
};

enum class ThreadRole : std::uint8_t { kUnknown, kMain, kWorker, kHelper };  // kHelper: watchdog, pin memory...

struct StackSample {
  SourceRef at;
  std::uint32_t line_count = 1;
  Timestamp time;
  GlobalRank rank = GlobalRank::kNone;
  RankSet ranks;  // of a stack that a tool already merged over ranks; else empty
  StrId node = StrId::kEmpty;
  std::int32_t pid = -1;
  std::int32_t parent_pid = -1;
  std::int64_t tid = -1;
  StrId process = StrId::kEmpty;  // command line
  StrId thread_name = StrId::kEmpty;
  StrId tool = StrId::kEmpty;  // "py-spy", "gdb", "faulthandler", "eu-stack", "proc"
  StrId note = StrId::kEmpty;  // text the tool printed with the stack ("last enqueued: ...")
  ThreadRole role = ThreadRole::kUnknown;
  std::int32_t worker = -1;   // index of a data loader worker, when the tool or file name says so
  std::uint32_t samples = 1;  // "N" of a folded line
  bool active = false;
  bool owns_gil = false;
  char state = 0;             // 'D', 'S', 'R' when known
  std::vector<Frame> frames;  // outermost first
};

}  // namespace holter::model
