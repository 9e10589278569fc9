// SPDX-License-Identifier: Apache-2.0
// The other faces of a flag table: help, manual page, completion, reference. Pure functions.
#pragma once

#include <string>

#include "base/flags.h"

namespace holter::base::flags {

// Opens with the examples, at most `width` columns.
std::string help(const Program& program, int width = 80);
std::string help(const Program& program, const Command& command, int width = 80);

// troff (man macros), section 1.
std::string man_page(const Program& program);

// Markdown reference of all commands.
std::string markdown(const Program& program);

enum class Shell { kBash, kZsh, kFish };
// A script to be sourced; it needs no package beside the shell itself.
std::string completion(const Program& program, Shell shell);

// "-o, --format FORMAT".
std::string spelling(const Flag& flag);
// Help of a flag with its choices, default and environment variable.
std::string describe(const Flag& flag);
// "holter diagnose [OPTION]... PATH...".
std::string synopsis(const Program& program, const Command& command);
// Lines of at most `width` columns, each after `indent` blanks except the first.
std::string wrap(std::string_view text, int width, int indent);

}  // namespace holter::base::flags
