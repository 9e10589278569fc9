// SPDX-License-Identifier: Apache-2.0
// The parsers and readers of stack dumps, for the text reader and the list of readers.
#pragma once

#include <memory>

#include "formats/reader.h"
#include "formats/text/line.h"

namespace holter::formats::stacks {

// Text dumps of all tools; one object a file.
std::unique_ptr<text::LineParser> make_stack_parser();
// Numbered source lines of files named "x.py.excerpt" or "x.py": facts "source.line".
std::unique_ptr<text::LineParser> make_source_parser();
// `py-spy dump --json`, also as a value inside another document.
std::unique_ptr<Reader> make_pyspy_json_reader();
// "a;b;c 12", with DLRover's rank sets "f@file@0-2/5-7|3-4" where present.
std::unique_ptr<Reader> make_folded_reader();

}  // namespace holter::formats::stacks
