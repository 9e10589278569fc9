// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/testing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto out = holter::formats::stacks::testing::parse_text({reinterpret_cast<const char*>(data), size});
  for (const auto& s : out.stacks) {
    if (s.frames.empty() || s.frames.size() > holter::formats::stacks::kMaxFrames) __builtin_trap();
  }
  return 0;
}
