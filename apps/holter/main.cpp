// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <cstdio>
#include <new>
#include <system_error>

#include "app.h"
#include "command.h"

namespace {

// Says it without an allocation.
int out_of(const char* what) {
  std::fputs("holter: error: ", stderr);
  std::fputs(what, stderr);
  std::fputs("\nholter: hint: give fewer files at once, fewer threads (--jobs 1) or more memory\n", stderr);
  return holter::app::kUnavailable;
}

}  // namespace

int main(int argc, char** argv) {
  // What reading one file needed serves the next: glibc would give it back and fault it in again.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
  try {
    return holter::app::run({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    return out_of("out of memory");
  } catch (const std::system_error& error) {
    return out_of(error.what());
  }
}
