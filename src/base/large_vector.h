// SPDX-License-Identifier: Apache-2.0
// A vector for what may take hundreds of megabytes: its memory is asked for in huge pages where the
// system allows that, because page faults cost more than filling the pages does.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace holter::base {

template <typename T>
struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <typename U>
  LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count > kMost) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    void* memory = bytes < kLarge ? std::malloc(bytes) : std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
    if (!memory) throw std::bad_alloc();
    if (bytes >= kLarge) (void)::madvise(memory, bytes, MADV_HUGEPAGE);  // advice: refusal costs only time
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { std::free(memory); }

  bool operator==(const LargeAllocator&) const = default;

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20;
  static constexpr std::size_t kLarge = 4 * kPage;
  static constexpr std::size_t kMost = static_cast<std::size_t>(-1) / 2 / sizeof(T);
};

template <typename T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace holter::base
