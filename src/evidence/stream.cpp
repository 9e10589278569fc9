// SPDX-License-Identifier: Apache-2.0
#include "evidence/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace holter::evidence {

namespace {
constexpr std::size_t kBuffer = 256 * 1024;
constexpr std::size_t kHead = 64 * 1024;
}  // namespace

bool Budget::take_bytes(std::uint64_t n) {
  auto left = bytes_left_.load(std::memory_order_relaxed);
  while (left >= n) {
    if (bytes_left_.compare_exchange_weak(left, left - n, std::memory_order_relaxed)) return true;
  }
  return false;
}

FileStream::FileStream(int fd, std::uint64_t expected_bytes, std::vector<char>& buffer)
    : fd_(fd), expected_(expected_bytes), buffer_(buffer) {
  buffer_.resize(kBuffer);
}

std::string_view FileStream::next() {
  if (!trouble_.empty()) return {};
  ssize_t n = 0;
  do {
    n = ::read(fd_, buffer_.data(), buffer_.size());
  } while (n < 0 && errno == EINTR);
  if (n > 0) {
    read_ += static_cast<std::uint64_t>(n);
    return {buffer_.data(), static_cast<std::size_t>(n)};
  }
  if (n < 0 && errno == EAGAIN) {
    trouble_ = "no more data without waiting for a writer";
  } else if (n < 0) {
    trouble_ = fmt::format("read failed: {}", std::strerror(errno));
  } else if (read_ < expected_) {
    trouble_ = fmt::format("the file shrank from {} to {} bytes while it was read", expected_, read_);
  }
  return {};
}

std::string_view BoundedStream::pull() {
  if (!trouble_.empty()) return {};
  std::string_view chunk = inner_.next();
  const auto allowed = budget_.limits().max_file_bytes - bytes_;
  if (chunk.size() > allowed) {
    trouble_ = fmt::format("stopped after {} bytes, the limit of one file", budget_.limits().max_file_bytes);
    chunk = chunk.substr(0, allowed);
  }
  if (!budget_.take_bytes(chunk.size())) {
    trouble_ =
        fmt::format("stopped: all inputs together exceed the limit of {} bytes", budget_.limits().max_total_bytes);
    return {};
  }
  bytes_ += chunk.size();
  return chunk;
}

std::string_view BoundedStream::head() {
  while (!head_read_ && head_.size() < kHead) {
    const auto chunk = pull();
    if (chunk.empty()) break;
    head_ += chunk;
  }
  head_read_ = true;
  return std::string_view(head_).substr(0, kHead);
}

std::string_view BoundedStream::next() {
  if (head_read_ && !head_given_) {
    head_given_ = true;
    if (!head_.empty()) return head_;
  }
  return pull();
}

}  // namespace holter::evidence
