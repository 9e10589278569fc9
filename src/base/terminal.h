// SPDX-License-Identifier: Apache-2.0
// What an output stream can show: colour, box characters, columns. Decided once by the program and
// passed on as values, so that renderers stay pure.
#pragma once

#include <cstdio>
#include <string_view>

#include "base/flags.h"

namespace holter::base {

enum class ColourMode { kAuto, kAlways, kNever };

struct Terminal {
  bool is_tty = false;
  bool colour = false;
  bool unicode = false;
  int width = 0;  // 0: do not wrap
};

// kAuto: NO_COLOR (not empty) forbids, CLICOLOR_FORCE (not empty, not "0") demands, TERM=dumb forbids,
// else colour on a terminal only (no-color.org, bixense.com/clicolors).
bool want_colour(ColourMode mode, bool is_tty, const flags::GetEnv& env);

// The locale's character set is UTF-8: the first of LC_ALL, LC_CTYPE, LANG that is set says so.
bool is_utf8_locale(const flags::GetEnv& env);

Terminal inspect(std::FILE* stream, ColourMode mode, const flags::GetEnv& env);

}  // namespace holter::base
