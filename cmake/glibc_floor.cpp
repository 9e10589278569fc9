// SPDX-License-Identifier: Apache-2.0
// Linked into every program. The static libstdc++ of a build machine with glibc 2.36 refers to
// arc4random (std::random_device, pulled in by its string instantiations and never called by us), which
// older systems lack. Defining it here keeps the programs loadable from glibc 2.34 on.
#include <cstdint>
#include <cstdlib>

#include <sys/random.h>

extern "C" std::uint32_t arc4random() {
  std::uint32_t value = 0;
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
  return value;
}
