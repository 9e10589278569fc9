// SPDX-License-Identifier: Apache-2.0
// The one way to standard output and to output files.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holter::app {

// Writes all of it and flushes. Returns kOk, or kUnavailable with a message when the output cannot be
// written (disk full); a reader that went away ends the program by SIGPIPE as usual.
int write_data(std::string_view text);

// Replaces the file: written beside it first and renamed, so that a reader never sees half a report.
// A path that is not a regular file (/dev/stdout, a pipe) is written in place.
base::Result<bool> write_file(const std::string& path, std::string_view text);

// Calls `produce` with a function that takes the next piece of the output, for output that is too
// large to be held; otherwise as the two above: "" is standard output. Without a piece no file is
// touched. Errors are said; returns kOk or kUnavailable.
using Take = std::function<void(std::string_view)>;
int stream_output(const std::string& path, const std::function<void(const Take&)>& produce);

}  // namespace holter::app
