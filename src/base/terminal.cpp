// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/strings.h"

namespace holter::base {

namespace {
std::string_view value_of(const flags::GetEnv& env, const char* name) {
  const char* text = env(name);
  return text ? text : "";
}
}  // namespace

bool want_colour(ColourMode mode, bool is_tty, const flags::GetEnv& env) {
  if (mode != ColourMode::kAuto) return mode == ColourMode::kAlways;
  if (!value_of(env, "NO_COLOR").empty()) return false;
  const auto force = value_of(env, "CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return is_tty && value_of(env, "TERM") != "dumb";
}

bool is_utf8_locale(const flags::GetEnv& env) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const auto locale = value_of(env, name);
    if (!locale.empty()) return contains_ignore_case(locale, "utf-8") || contains_ignore_case(locale, "utf8");
  }
  return false;
}

Terminal inspect(std::FILE* stream, ColourMode mode, const flags::GetEnv& env) {
  Terminal out;
  const int fd = fileno(stream);
  out.is_tty = isatty(fd) == 1;
  out.colour = want_colour(mode, out.is_tty, env);
  out.unicode = is_utf8_locale(env);
  winsize size{};
  if (out.is_tty) out.width = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  return out;
}

}  // namespace holter::base
