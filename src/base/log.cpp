// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <string>

#include "base/strings.h"

namespace holter::base::log {

namespace {
std::atomic<Level> threshold{Level::kWarn};

std::string_view label(Level level) {
  switch (level) {
    case Level::kDebug: return "debug: ";
    case Level::kInfo: return "";
    case Level::kWarn: return "warning: ";
    case Level::kError: return "error: ";
    case Level::kHint: return "hint: ";
  }
  return "";
}
}  // namespace

void set_threshold(Level level) { threshold = level; }

void write(Level level, std::string_view message) {
  if (level < threshold.load()) return;
  const std::string line = "holter: " + std::string(label(level)) + printable(message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace holter::base::log
