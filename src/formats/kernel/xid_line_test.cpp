// SPDX-License-Identifier: Apache-2.0
// Lines are text written by us after the driver's format strings.
#include "formats/kernel/xid_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holter::formats::kernel {
namespace {

using ::testing::ElementsAre;

TEST(XidLine, plain_unknown_and_absent_process) {
  auto x = parse_xid("NVRM: Xid (PCI:0000:C4:00): 43, pid=4519, name=python3, Ch 00000008");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->number, 43);
  EXPECT_EQ(x->pci, "0000:c4:00");
  EXPECT_EQ(x->pid, "4519");
  EXPECT_EQ(x->name, "python3");
  EXPECT_EQ(x->text, "Ch 00000008");
  x = parse_xid("NVRM: Xid (PCI:0000:97:00): 64, pid='<unknown>', name=<unknown>, Row Remapper: no row left");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->pid, "");
  EXPECT_EQ(x->name, "");
  EXPECT_EQ(x->text, "Row Remapper: no row left");
  x = parse_xid("NVRM: Xid (PCI:0000:97:00): 79, GPU has fallen off the bus.");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->text, "GPU has fallen off the bus.");
}

TEST(XidLine, legacy_mig_and_bare_number) {
  auto x = parse_xid("NVRM: Xid (0000:03:00): 14, Channel 00000001");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->number, 14);
  EXPECT_EQ(x->pci, "0000:03:00");
  x = parse_xid("NVRM: Xid (PCI:0000:5e:00 GPU-I:05 GPU-CI:01): 13, pid=7, name=train, Graphics Exception: ESR 0x1");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->mig, "GPU-I:05 GPU-CI:01");
  EXPECT_EQ(x->pci, "0000:5e:00");
  x = parse_xid("NVRM: Xid (PCI:0000:5e:00): 999");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->number, 999);
}

TEST(XidLine, nvlink5_records) {
  auto x = parse_xid(
      "NVRM: Xid (PCI:0018:01:00): 149, pid='<unknown>', name=<unknown>, NETIR_BER_EVENT_2 Nonfatal XC1 i0 "
      "Link 07 (0x00000013 0x00000002 0x0)");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->unit, "NETIR_BER_EVENT_2");
  EXPECT_EQ(x->fatality, "Nonfatal");
  EXPECT_EQ(x->link, 7);
  EXPECT_THAT(register_words(x->registers), ElementsAre(0x13, 2, 0));
  x = parse_xid("NVRM: Xid (PCI:0018:01:00): 150, MSE Degraded Fatal XC0 i0 Link -1 (0x0 0x0)");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->unit, "MSE Degraded");
  EXPECT_EQ(x->link, -1);
}

TEST(XidLine, consequences_places_and_recovery_actions) {
  auto x = parse_xid("NVRM: Xid (PCI:0000:c4:00): 45, pid=5, name=p, Ch 00000001 caused by previous Xid 149");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->caused_by, 149);
  x = parse_xid(
      "NVRM: Xid (PCI:0000:5d:00): 13, pid=9, name=p, Graphics SM Warp Exception on (GPC 2, TPC 4, SM 1): Illegal");
  EXPECT_EQ(x->unit, "GPC 2, TPC 4, SM 1");
  x = parse_xid("NVRM: Xid (PCI:0000:97:00): 95, pid=6, name=p, Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No");
  EXPECT_EQ(x->unit, "LTC TAG");
  const auto action =
      parse_recovery_action("GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)");
  ASSERT_TRUE(action);
  EXPECT_EQ(action->code, 2);
  EXPECT_EQ(action->name, "Node Reboot Required");
}

TEST(XidLine, tracepoint_and_other_text) {
  const auto x = parse_xid("nvidia_dev_xid: dev=0000:c4:00.0 error_code=79 msg=GPU has fallen off the bus.");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->number, 79);
  EXPECT_EQ(x->pci, "0000:c4:00");
  for (const auto* text :
       {"Xid", "Xid (", "Xid (PCI:): 3", "Xid (PCI:0000:c4:00) 79", "Xid (PCI:0000:c4:00): x", "see Xid 79"}) {
    EXPECT_FALSE(parse_xid(text)) << text;
  }
}

TEST(SxidLine, forms) {
  auto s = parse_sxid("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up (First)");
  ASSERT_TRUE(s);
  EXPECT_EQ(s->number, 20034);
  EXPECT_EQ(s->device, "nvidia-nvswitch3");
  EXPECT_EQ(s->fatality, "Fatal");
  EXPECT_EQ(s->link, 30);
  EXPECT_FALSE(s->data);
  s = parse_sxid("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Data {0x80000000, 0x1}");
  ASSERT_TRUE(s);
  EXPECT_TRUE(s->data);
  s = parse_sxid("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 99999, Non-fatal, engine x, instance=1, chiplet=2");
  ASSERT_TRUE(s);
  EXPECT_EQ(s->fatality, "Non-fatal");
  EXPECT_FALSE(parse_xid("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal"));
}

}  // namespace
}  // namespace holter::formats::kernel
