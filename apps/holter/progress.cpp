// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <cstdio>

namespace holter::app {

namespace {
constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kInterval = std::chrono::milliseconds(100);
}  // namespace

Progress::Progress(bool enabled) : enabled_(enabled), started_(Clock::now()) {}

Progress::~Progress() {
  if (visible_) std::fputs("\r\033[K", stderr);
}

void Progress::update(std::size_t done, std::size_t known) {
  if (!enabled_) return;
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  if (now - started_ < kPatience || now - shown_ < kInterval) return;
  shown_ = now;
  visible_ = true;
  std::fprintf(stderr, "\rholter: read %zu of %zu files\033[K", done, known);
}

}  // namespace holter::app
