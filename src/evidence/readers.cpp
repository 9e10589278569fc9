// SPDX-License-Identifier: Apache-2.0
#include "evidence/readers.h"

namespace holter::evidence {

std::vector<std::unique_ptr<formats::Reader>> make_readers(const model::Rules&) {
  std::vector<std::unique_ptr<formats::Reader>> readers;
  return readers;
}

}  // namespace holter::evidence
