// SPDX-License-Identifier: Apache-2.0
#include "base/pci.h"

#include <gtest/gtest.h>

namespace holter::base {
namespace {

TEST(Pci, every_form_of_one_address) {
  for (const auto* text : {"0000:C4:00.0", "00000000:c4:00.0", "c4:00.0", "C4:00", "0000:c4:00", " 0000:c4:00.0\t"}) {
    EXPECT_EQ(canonical_pci(text), "0000:c4:00") << text;
  }
  EXPECT_EQ(canonical_pci("0008:01:00.0"), "0008:01:00");
}

TEST(Pci, other_text) {
  for (const auto* text : {"", "12:34:56", "10.0.0.1", "c4", "c4:00.10", "zz:00.0", "1:2:3:4", "GPU-1"}) {
    EXPECT_EQ(canonical_pci(text), "") << text;
  }
}

}  // namespace
}  // namespace holter::base
