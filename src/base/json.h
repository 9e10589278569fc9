// SPDX-License-Identifier: Apache-2.0
// RapidJSON with an allocator that throws: its own returns null when memory is short and then writes there.
#pragma once

#include <cstdlib>
#include <new>

#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace holter::base {

class JsonAllocator {
 public:
  static constexpr bool kNeedFree = true;
  void* Malloc(std::size_t size) { return size == 0 ? nullptr : checked(std::malloc(size)); }
  void* Realloc(void* old, std::size_t, std::size_t size) {
    if (size == 0) {
      std::free(old);
      return nullptr;
    }
    return checked(std::realloc(old, size));
  }
  static void Free(void* old) noexcept { std::free(old); }
  bool operator==(const JsonAllocator&) const { return true; }
  bool operator!=(const JsonAllocator&) const { return false; }

 private:
  static void* checked(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
};

using JsonBuffer = rapidjson::GenericStringBuffer<rapidjson::UTF8<>, JsonAllocator>;
// Writers take these parameters: rapidjson::Writer<JsonBuffer, UTF8<>, UTF8<>, JsonAllocator>.
template <template <typename, typename, typename, typename, unsigned> class Writer>
using JsonWriterOf =
    Writer<JsonBuffer, rapidjson::UTF8<>, rapidjson::UTF8<>, JsonAllocator, rapidjson::kWriteDefaultFlags>;
using JsonReader = rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, JsonAllocator>;

}  // namespace holter::base
