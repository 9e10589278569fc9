// SPDX-License-Identifier: Apache-2.0
// Places in code: which files are public, and the functions and source lines of those that are not.
// Pure functions, thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace holter::report::share {

// The part of a path that everybody has: from the package of a public library on, or a place of the
// system that tells the kind of device. "" when there is none.
std::string_view public_part(std::string_view path);

// Functions that the text places in a file which is not public: "step (loss.py:4)",
// `File "loss.py", line 4, in step`, "[loss.py:4:step]".
void find_functions(std::string_view text, const std::function<void(std::string_view name)>& learn);

// Source lines that a Python traceback quotes from files which are not public become "...".
void blank_source_lines(std::vector<std::string>& lines);

}  // namespace holter::report::share
