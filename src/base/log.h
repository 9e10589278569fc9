// SPDX-License-Identifier: Apache-2.0
// Messages to people, on standard error. HINT says what the reader can do next.
//
//   log::warn("cannot read {}: {}", path, reason);
//   log::hint("run it as the owner of the job, or add CAP_SYS_PTRACE");
//
// Thread-safe: a message is one write. Libraries below report/ return errors instead of logging.
#pragma once

#include <string_view>

#include <fmt/format.h>

namespace holter::base::log {

enum class Level { kDebug, kInfo, kWarn, kError, kHint };

// Messages below `level` are dropped (hints never are). Default: kWarn.
void set_threshold(Level level);
void write(Level level, std::string_view message);

template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kWarn, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kError, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void hint(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kHint, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace holter::base::log
