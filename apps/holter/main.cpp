// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include "app.h"

int main(int argc, char** argv) {
  // What reading one file needed serves the next: glibc would give it back and fault it in again.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
  return holter::app::run({argv + 1, argv + argc});
}
