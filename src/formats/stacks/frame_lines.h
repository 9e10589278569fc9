// SPDX-License-Identifier: Apache-2.0
// The syntaxes in which tools print one frame. Pure functions over one line; views into it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/stack.h"

namespace holter::formats::stacks {

struct FrameLine {
  std::string_view function;
  std::string_view file;       // source file or module; empty when the tool did not say
  std::string_view arguments;  // gdb: between the parentheses, verbatim
  std::string_view comment;    // py-spy style: after "#"
  std::int32_t line = -1;
  std::int32_t number = -1;  // "#3": 3
  model::FrameKind kind = model::FrameKind::kPython;
  bool cut_outside = false;  // the tool says that outer frames are missing
};

// "    forward (rec/model.py:290)", "    imdecode (cv2)", "    _collect (gc)  # generation 2".
std::optional<FrameLine> pyspy_frame(std::string_view body);
// `  File "train.py", line 40 in main`, `    (Python) File "train.py", line 40, in main`.
std::optional<FrameLine> traceback_frame(std::string_view body);
// "#1  0x0000 in fn (args) at file.c:3", "#1  0x0000 fn - /lib/libc.so.6", "#1 0x0 in fn () from lib".
std::optional<FrameLine> native_frame(std::string_view body);
// A second line of a native frame: "    ./nptl/futex.c:57:12" (eu-stack -s), "    at file.c:3" (gdb).
std::optional<FrameLine> native_place(std::string_view body);
// "[<0>] folio_wait_bit_common+0x13d/0x350", " ? schedule+0x5e/0xd0", " nfs_wait+0x1/0x2 [nfs]".
std::optional<FrameLine> kernel_frame(std::string_view body);

// Number of leading columns, a tab counted as 8.
std::size_t indent_of(std::string_view body);

}  // namespace holter::formats::stacks
