// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/quantity.h"

#include <cmath>

#include <gtest/gtest.h>

#include "formats/facts/names.h"

namespace holter::formats::facts {
namespace {

TEST(Quantity, NumbersAndUnits) {
  EXPECT_EQ(quantity("1965 MHz")->value, 1965);
  EXPECT_EQ(quantity("1965 MHz")->unit, "MHz");
  EXPECT_EQ(quantity("38%")->unit, "%");
  EXPECT_EQ(quantity("1,965")->value, 1965);
  EXPECT_EQ(quantity("1,234,567")->value, 1234567);
  EXPECT_TRUE(std::isinf(quantity("unlimited")->value));
  EXPECT_TRUE(std::isnan(quantity("nan")->value));
  EXPECT_TRUE(std::isinf(quantity("-inf")->value));
  EXPECT_FALSE(quantity("nanometre"));
  EXPECT_FALSE(quantity("N/A"));
  EXPECT_FALSE(quantity("12 monkeys here"));
  EXPECT_FALSE(quantity(""));
}

TEST(Quantity, Bytes) {
  EXPECT_EQ(bytes("64M"), 64.0 * 1024 * 1024);
  EXPECT_EQ(bytes("1.5 KiB"), 1536);
  EXPECT_EQ(bytes("8", 1024), 8192);
  EXPECT_FALSE(bytes("8 apples"));
}

TEST(Quantity, Keys) {
  EXPECT_EQ(key_of("GPU Link Info"), "gpu_link_info");
  EXPECT_EQ(key_of("  a--B% "), "a_b");
  EXPECT_EQ(key_of(""), "");
}

TEST(Names, Hosts) {
  EXPECT_TRUE(is_host_name("gn7"));
  EXPECT_TRUE(is_host_name("ib06"));
  EXPECT_TRUE(is_host_name("10.1.2.3"));
  EXPECT_FALSE(is_host_name("rank3"));
  EXPECT_FALSE(is_host_name("fp16"));
  EXPECT_FALSE(is_host_name("ib0"));
  EXPECT_FALSE(is_host_name("hello"));
  EXPECT_FALSE(is_host_name("10.1.2.333"));
}

TEST(Names, PciAddresses) {
  EXPECT_EQ(pci_address("00000000:97:00.0"), "0000:97:00");
  EXPECT_EQ(pci_address("PCI 0000:A9:00.0"), "0000:a9:00");
  EXPECT_EQ(pci_address("c4:00.0"), "0000:c4:00");
  EXPECT_FALSE(pci_address("12:30"));
  EXPECT_FALSE(pci_address("zz:00.0"));
}

TEST(Names, Prefixes) {
  const auto a = host_prefix("gn7 (inside srun step): text");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->host, "gn7");
  EXPECT_EQ(a->context, "inside srun step");
  EXPECT_EQ(a->rest, "text");
  EXPECT_EQ(host_prefix("login shell on gn7: x")->context, "login shell");
  EXPECT_EQ(host_header("=== gn7 ==="), "gn7");
  EXPECT_EQ(host_header("[root@gn7 ~]# nvidia-smi"), "gn7");
  EXPECT_FALSE(host_header("# a comment"));
}

}  // namespace
}  // namespace holter::formats::facts
