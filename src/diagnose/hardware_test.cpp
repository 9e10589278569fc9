// SPDX-License-Identifier: Apache-2.0
// Kernel and NCCL lines are text written by us.
#include "diagnose/hardware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "diagnose/diagnose.h"
#include "diagnose/init.h"
#include "diagnose/link.h"
#include "diagnose/nccl_transport.h"
#include "formats/kernel/kernel_log.h"
#include "formats/nccl/nccl_log.h"
#include "formats/rules/rules.h"

namespace holter::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class Hardware : public ::testing::Test {
 protected:
  Hardware() { ev_.files.push_back({.path = "dmesg.txt"}); }

  void log(std::string_view text) {
    const auto kernel = formats::kernel::make_parser();
    const auto nccl = formats::nccl::make_parser();
    std::istringstream in{std::string(text)};
    formats::text::Line line;
    for (std::string one; std::getline(in, one);) {
      line.raw = line.body = one;
      ++line.number;
      kernel->on_line(line, {model::FileId{0}, nullptr}, ev_);
      nccl->on_line(line, {model::FileId{0}, nullptr}, ev_);
    }
  }
  void fact(std::string_view node, std::string_view subject, std::string_view key, std::string_view value) {
    model::Fact f;
    f.at.file = model::FileId{0};
    f.node = ev_.intern(node), f.subject = ev_.intern(subject), f.key = ev_.intern(key), f.value = ev_.intern(value);
    f.text = f.value;
    f.has_number = !value.empty() && value[0] >= '0' && value[0] <= '9';
    if (f.has_number) f.number = std::stod(std::string(value));
    ev_.facts.push_back(f);
  }
  Output run(void (*diagnoser)(const Context&, Output&)) {
    job_ = hang::join_job(ev_);
    const Context context{ev_, formats::rules::builtin(), job_};
    Output out;
    diagnoser(context, out);
    return out;
  }
  model::Evidence ev_;
  hang::Job job_;
};

TEST_F(Hardware, a_lost_gpu_with_the_count) {
  log("Jan  2 10:00:00 n4 kernel: NVRM: GPU 0000:41:00.0: GPU has fallen off the bus.\n");
  fact("n4", "", "inventory.expected_gpus", "8");
  fact("n4", "", "gpu.attached", "7");
  const auto out = run(diagnose_bus);
  ASSERT_THAT(out.findings, SizeIs(1));
  EXPECT_EQ(out.findings[0].cause, "gpu_fell_off_bus");
  EXPECT_THAT(out.findings[0].title, HasSubstr("0000:41:00"));
  EXPECT_THAT(out.findings[0].title, HasSubstr("7 of 8"));
  EXPECT_THAT(out.findings[0].exclude_nodes, ::testing::ElementsAre("n4"));
}

TEST_F(Hardware, a_short_count_alone_is_weaker) {
  fact("n4", "", "inventory.expected_gpus", "8");
  fact("n4", "", "gpu.attached", "7");
  const auto out = run(diagnose_bus);
  ASSERT_THAT(out.findings, SizeIs(1));
  EXPECT_LT(out.findings[0].confidence, 0.7);
  EXPECT_THAT(out.findings[0].needs, Not(IsEmpty()));
}

TEST_F(Hardware, the_first_fatal_nvlink_record_is_the_fault) {
  log("[Mon May 18 07:31:02 2026] NVRM: Xid (PCI:0000:d1:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x000000c2 0x8)\n"
      "[Mon May 18 07:31:02 2026] NVRM: Xid (PCI:0000:c4:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 04 (0x025001c6 0x0)\n"
      "[Mon May 18 07:31:03 2026] NVRM: Xid (PCI:0000:d1:00): 45, pid=1, name=p, Ch 1 caused by previous Xid 145\n");
  const auto out = run(diagnose_nvlink);
  ASSERT_THAT(out.findings, SizeIs(1));
  const auto& f = out.findings[0];
  EXPECT_EQ(f.culprits.at(0).gpu, "0000:c4:00");
  EXPECT_THAT(f.title, HasSubstr("Xid 149"));
  EXPECT_THAT(f.title, HasSubstr("0000:d1:00 and Xid 45 are secondary"));
  EXPECT_THAT(f.evidence.at(0).why, HasSubstr("INVESTIGATE_PEER_DEVICE"));
}

TEST_F(Hardware, remap_flags_decide) {
  log("NVRM: Xid (PCI:0000:97:00): 95, pid=6, name=p, Uncontained: FBHUB. RST: Yes, D-RST: No\n");
  fact("", "0000:97:00", "smi.remapped_rows.remapping_failure_occurred", "No");
  fact("", "0000:97:00", "smi.remapped_rows.pending", "Yes");
  auto out = run(diagnose_ecc);
  ASSERT_THAT(out.findings, SizeIs(1));
  EXPECT_EQ(out.findings[0].severity, model::Severity::kGpuFatal);
  fact("", "0000:97:00", "smi.remapped_rows.remapping_failure_occurred", "Yes");
  out = run(diagnose_ecc);
  EXPECT_EQ(out.findings[0].severity, model::Severity::kReplace);
}

TEST_F(Hardware, an_old_aggregate_count_is_no_fault) {
  fact("n1", "0000:97:00", "smi.ecc_errors.aggregate.dram_uncorrectable", "4");
  fact("n1", "0000:97:00", "smi.ecc_errors.volatile.dram_uncorrectable", "0");
  fact("n1", "0000:97:00", "smi.remapped_rows.remapping_failure_occurred", "No");
  const auto out = run(diagnose_ecc);
  ASSERT_THAT(out.findings, SizeIs(1));
  EXPECT_EQ(out.findings[0].cause, "ecc_recovered");
  EXPECT_EQ(out.findings[0].severity, model::Severity::kInfo);
}

TEST_F(Hardware, xid_13_is_the_application_until_it_stays_with_one_gpu) {
  log("NVRM: Xid (PCI:0000:11:00): 13, pid=7, name=train, Graphics SM Warp Exception on (GPC 2, TPC 4, SM 1): Illegal\n"
      "NVRM: Xid (PCI:0000:22:00): 13, pid=8, name=train, Graphics SM Warp Exception on (GPC 5, TPC 0, SM 0): Illegal\n");
  auto out = run(diagnose_app_xid);
  ASSERT_THAT(out.findings, SizeIs(1));
  EXPECT_EQ(out.findings[0].cause, "app_kernel_fault");
  log("NVRM: Xid (PCI:0000:11:00): 13, pid=9, name=bench, Graphics SM Warp Exception on (GPC 2, TPC 4, SM 0): Illegal\n");
  out = run(diagnose_app_xid);
  ASSERT_THAT(out.findings, SizeIs(2));
  EXPECT_EQ(out.findings[0].cause, "gpu_hw_sdc");
  EXPECT_EQ(out.findings[0].culprits.at(0).gpu, "0000:11:00");
}

TEST_F(Hardware, an_unknown_number_is_reported) {
  log("NVRM: Xid (PCI:0000:11:00): 999, something new\n");
  const auto out = run(diagnose_other_xid);
  ASSERT_THAT(out.findings, SizeIs(1));
  EXPECT_EQ(out.findings[0].cause, "unknown");
  EXPECT_THAT(out.findings[0].title, HasSubstr("999"));
}

TEST_F(Hardware, the_host_with_the_port_error_is_the_culprit) {
  log("n6:1:2 [3] transport/net_ib.cc:98 NCCL WARN NET/IB : mlx5_3:1 Got async event : port error\n"
      "n2:1:2 [3] transport/net_ib.cc:9 NCCL WARN NET/IB : Got completion from peer 10.1.8.6<52114> with error 12, opcode 1, "
      "len 0, vendor err 129\n");
  fact("n6", "", "host.ip", "10.1.8.6");
  const auto out = run(diagnose_link);
  ASSERT_THAT(out.findings, SizeIs(1));
  EXPECT_EQ(out.findings[0].culprits.at(0).name, "n6/mlx5_3 port 1");
  EXPECT_GE(out.findings[0].confidence, 0.8);
}

TEST_F(Hardware, one_host_without_gdr) {
  log("a:1:2 [0] NCCL INFO Channel 00/0 : 0[7] -> 8[7] [send] via NET/IB/1/GDRDMA\n"
      "b:1:2 [0] NCCL INFO Channel 00/0 : 8[7] -> 16[7] [send] via NET/IB/1/GDRDMA\n"
      "c:1:2 [0] NCCL INFO Channel 00/0 : 16[7] -> 0[7] [send] via NET/IB/1\n");
  const auto out = run(diagnose_nccl_hosts);
  ASSERT_THAT(out.findings, SizeIs(1));
  EXPECT_EQ(out.findings[0].cause, "gdr_disabled");
  EXPECT_EQ(out.findings[0].culprits.at(0).node, "c");
}

TEST_F(Hardware, hosts_that_differ) {
  log("a:1:2 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\nb:1:2 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
      "c:1:2 [0] NCCL INFO NCCL version 2.18.1+cuda12.1\n"
      "a:1:2 [0] NCCL INFO NCCL_PROTO set by environment to Simple\n"
      "a:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB ; OOB\nb:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB ; OOB\n"
      "c:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_9:1/IB ; OOB\n");
  const auto out = run(diagnose_nccl_hosts);
  std::vector<std::string> causes;
  for (const auto& f : out.findings) causes.push_back(f.cause);
  EXPECT_THAT(causes, ::testing::UnorderedElementsAre("hca_set_mismatch", "nccl_version_mismatch",
                                                      "env_differs_between_hosts"));
}

}  // namespace
}  // namespace holter::diagnose
