// SPDX-License-Identifier: Apache-2.0
#include "formats/kernel/xid_table.h"

#include <gtest/gtest.h>

#include "formats/rules/rules.h"

namespace holter::formats::kernel {
namespace {

const model::Rules& rules() { return rules::builtin(); }

TEST(XidTable, known_and_unknown_numbers) {
  const auto gsp = xid_info(rules(), 119);
  ASSERT_TRUE(gsp);
  EXPECT_EQ(gsp->unit, "GSP");
  EXPECT_EQ(gsp->severity, "gpu_fatal");
  EXPECT_EQ(gsp->vendor_action, "RESET_GPU");
  EXPECT_EQ(severity_of(gsp->severity), model::Severity::kGpuFatal);
  EXPECT_EQ(severity_of(xid_info(rules(), 79)->severity), model::Severity::kNodeFatal);
  EXPECT_FALSE(xid_info(rules(), 9999));
  const auto sxid = sxid_info(rules(), 12020);
  ASSERT_TRUE(sxid);
  EXPECT_EQ(sxid->guide_class, "always_fatal");
}

TEST(XidTable, nvlink5_layouts) {
  // intrInfo[9:0] = 0111000110 is NETIR_LINK_EVT of layout 1; event code 37 in bits 25:20.
  const auto v1 = decode_nvlink5(rules(), 149, 0x025001c6, 0, 0);
  ASSERT_EQ(v1.size(), 1u);
  EXPECT_EQ(v1[0].layout, 1);
  EXPECT_EQ(v1[0].event_code, 37);
  EXPECT_EQ(v1[0].resolution, "RESET_GPU");
  EXPECT_EQ(v1[0].investigatory, "INVESTIGATE_PEER_DEVICE");
  EXPECT_TRUE(decode_nvlink5(rules(), 149, 0x025001c6, 0, 575).empty());
  // intrInfo[6:0] = 0010001 is NETIR_LINK_DOWN of layout 2; code 10.
  const auto v2 = decode_nvlink5(rules(), 149, 0x00a00011, 0, 580);
  ASSERT_EQ(v2.size(), 1u);
  EXPECT_EQ(v2[0].unit, "NETIR_LINK_DOWN");
  EXPECT_EQ(v2[0].event_code, 10);
}

TEST(XidTable, a_promoted_rule_resets) {
  // Bit 10 of layout 1 promotes RLW_RXPIPE status 1 from IGNORE to RESET_GPU; the pattern shows 10 at 10:9.
  bool ignore = false, reset = false;
  for (std::uint32_t low = 0; low < 0x800; ++low) {
    for (const auto& m : decode_nvlink5(rules(), 145, low, 1, 570)) {
      if (m.unit != "RLW_RXPIPE") continue;
      (m.resolution == "RESET_GPU" ? reset : ignore) = true;
      EXPECT_TRUE(m.resolution == "RESET_GPU" || m.resolution == "IGNORE") << m.resolution;
    }
  }
  EXPECT_TRUE(ignore);
  EXPECT_TRUE(reset);
}

}  // namespace
}  // namespace holter::formats::kernel
