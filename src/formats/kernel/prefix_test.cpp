// SPDX-License-Identifier: Apache-2.0
#include "formats/kernel/prefix.h"

#include <gtest/gtest.h>

namespace holter::formats::kernel {
namespace {

using model::TimeKind;

struct Case {
  const char* text;
  TimeKind kind;
  std::int64_t ns;
  const char* host;
};

TEST(KernelPrefix, every_form) {
  constexpr std::int64_t kS = 1'000'000'000;
  const Case cases[] = {
      {"[ 2217.510034] NVRM: x", TimeKind::kMonotonic, 2217510034000, ""},
      {"<4>[ 2217.510034][ T4519] NVRM: x", TimeKind::kMonotonic, 2217510034000, ""},
      {"[Mon May 18 07:31:02 2026] NVRM: x", TimeKind::kUnix, 1779089462 * kS, ""},
      {"[Fri Jul  3 08:11:20 2026] NVRM: x", TimeKind::kUnix, 1783066280 * kS, ""},
      {"6,3964,206764307,-;NVRM: x", TimeKind::kMonotonic, 206764307000, ""},
      {"kern  :warn  : 2025-01-21T04:41:44,283302+00:00 NVRM: x", TimeKind::kUnix, 1737434504 * kS + 283302000, ""},
      {"2025-01-21T06:41:44+0200 gn7 kernel: NVRM: x", TimeKind::kUnix, 1737434504 * kS, "gn7"},
      {"2025-01-21T04:41:44.5Z gn7 kernel: [ 12.3] NVRM: x", TimeKind::kUnix, 1737434504 * kS + kS / 2, "gn7"},
      {"Aug 17 00:00:24 gn7 kernel: [   12.300000] NVRM: x", TimeKind::kTimeOfDay, 24 * kS, "gn7"},
      {"gn7: kern: warning: [2025-01-21T04:41:44Z]: NVRM: x", TimeKind::kUnix, 1737434504 * kS, "gn7"},
      {"NVRM: x", TimeKind::kNone, 0, ""},
      {"               NVRM: x", TimeKind::kNone, 0, ""},
  };
  for (const auto& c : cases) {
    const auto p = split_prefix(c.text);
    EXPECT_EQ(p.message, "NVRM: x") << c.text;
    EXPECT_EQ(p.time.kind, c.kind) << c.text;
    EXPECT_EQ(p.time.ns, c.ns) << c.text;
    EXPECT_EQ(p.host, c.host) << c.text;
  }
}

TEST(KernelPrefix, other_text_stays) {
  for (const auto* text :
       {"[abc] x", "1,2,x", "kernel of truth", "[99999999999999] x", "[Mon May 42 07:31:02 2026] x"}) {
    EXPECT_EQ(split_prefix(text).message, text);
  }
}

}  // namespace
}  // namespace holter::formats::kernel
