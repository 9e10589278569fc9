// SPDX-License-Identifier: Apache-2.0
// Look-alikes that must stay apart; whole incidents are in tests/incidents.
#include "diagnose/view_diagnosers.h"

#include <limits>

#include <gmock/gmock.h>

#include "formats/rules/rules.h"

namespace holter::diagnose {
namespace {

class ViewTest : public ::testing::Test {
 protected:
  ViewTest() { ev_.files.push_back({.path = "x", .format = "", .version = ""}); }
  void fact(std::string_view key, std::string_view value, double number, std::string_view context = {}) {
    model::Fact f;
    f.at = {model::FileId{0}, model::PosKind::kLine, ev_.facts.size() + 1};
    f.key = ev_.intern(key);
    f.value = ev_.intern(value);
    f.text = ev_.intern(std::string(key) + " " + std::string(value));
    f.subject = ev_.intern(key.substr(key.find('.') + 1));
    f.context = ev_.intern(context);
    f.number = number;
    f.has_number = true;
    ev_.facts.push_back(f);
  }
  void table(const std::vector<std::string>& columns, const std::vector<std::vector<std::string>>& rows) {
    model::Table t;
    t.at = {model::FileId{0}, model::PosKind::kLine, 1};
    for (const auto& c : columns) t.columns.push_back(ev_.intern(c));
    for (const auto& row : rows) {
      auto& cells = t.rows.emplace_back();
      for (const auto& c : row) cells.push_back(ev_.intern(c));
      t.lines.push_back(t.rows.size() + 1);
    }
    ev_.tables.push_back(std::move(t));
  }
  std::vector<std::string> causes() {
    const auto job = hang::join_job(ev_);
    const Context context{ev_, formats::rules::builtin(), job};
    Output out;
    diagnose_facts(context, out);
    std::vector<std::string> all;
    for (const auto& f : out.findings) {
      EXPECT_FALSE(f.evidence.empty()) << f.cause;
      EXPECT_NE(context.rules.cause(f.cause), nullptr) << f.cause;
      all.push_back(f.cause);
    }
    return all;
  }
  model::Evidence ev_;
};

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(ViewTest, NothingFromNothing) { EXPECT_THAT(causes(), IsEmpty()); }

TEST_F(ViewTest, LowMemlockNeedsRdma) {
  fact("limit.memlock_kb", "64", 64);
  EXPECT_THAT(causes(), IsEmpty());
  fact("line", "ibv_reg_mr failed: Cannot allocate memory", 0);
  EXPECT_THAT(causes(), ElementsAre("memlock_limit"));
}

TEST_F(ViewTest, UnlimitedMemlockWithEnomemIsTheKernel) {
  fact("limit.memlock_kb", "unlimited", std::numeric_limits<double>::infinity());
  fact("line", "ibv_reg_mr failed: Cannot allocate memory", 0);
  EXPECT_THAT(causes(), ElementsAre("kernel_regression"));
}

TEST_F(ViewTest, LoginShellLimitDoesNotCount) {
  fact("limit.memlock_kb", "64", 64, "login shell");
  fact("line", "ibv_reg_mr failed: Cannot allocate memory", 0);
  EXPECT_THAT(causes(), IsEmpty());
}

TEST_F(ViewTest, IdlePcieIsNormalBusyIsNot) {
  table({"gpu", "pstate", "pcie.link.gen.current", "pcie.link.gen.max"},
        {{"0", "P8", "1", "5"}, {"1", "P8", "1", "5"}});
  EXPECT_THAT(causes(), IsEmpty());
  ev_.tables.clear();
  table({"gpu", "pstate", "pcie.link.gen.current", "pcie.link.gen.max"},
        {{"0", "P0", "5", "5"}, {"1", "P0", "3", "5"}});
  EXPECT_THAT(causes(), ElementsAre("pcie_link_degraded"));
}

TEST_F(ViewTest, PowerCapAtFullPowerIsNormalBrakeIsNot) {
  table({"gpu", "sm_clock", "power_w", "throttle_reasons"},
        {{"0", "1700", "690", "sw_power_cap"}, {"1", "1710", "695", "sw_power_cap"}});
  EXPECT_THAT(causes(), IsEmpty());
  ev_.tables.clear();
  table({"gpu", "sm_clock", "power_w", "throttle_reasons"},
        {{"0", "1700", "690", "none"}, {"1", "345", "150", "hw_power_brake_slowdown"}});
  EXPECT_THAT(causes(), ElementsAre("power_throttle"));
}

TEST_F(ViewTest, EqualRanksAreNoStragglers) {
  table({"rank", "compute_ms"}, {{"0", "100"}, {"1", "101"}, {"2", "99"}, {"3", "100"}});
  EXPECT_THAT(causes(), IsEmpty());
  ev_.tables.clear();
  table({"rank", "compute_ms"}, {{"0", "100"}, {"1", "101"}, {"2", "160"}, {"3", "100"}});
  EXPECT_THAT(causes(), ElementsAre("straggler"));
}

TEST_F(ViewTest, LayersWithoutOverflowAreSilent) {
  table({"layer", "absmax_fp16", "inf"}, {{"0", "12", "0"}, {"1", "14", "0"}});
  EXPECT_THAT(causes(), IsEmpty());
}

TEST_F(ViewTest, SyncedWeightsAreSilent) {
  table({"step", "trainer_hash", "rollout_hash"}, {{"0", "a", "a"}, {"1", "b", "b"}, {"2", "c", "c"}});
  EXPECT_THAT(causes(), Not(Contains("weights_not_synced")));
}

}  // namespace
}  // namespace holter::diagnose
