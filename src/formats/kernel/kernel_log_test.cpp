// SPDX-License-Identifier: Apache-2.0
// Lines are text written by us after the drivers' and the kernel's format strings; the last test reads
// third-party files where HOLTER_TEST_DATA has them.
#include "formats/kernel/kernel_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace holter::formats::kernel {
namespace {

using ::testing::SizeIs;

class KernelLog : public ::testing::Test {
 protected:
  void feed(std::string_view text) {
    const auto parser = make_parser();
    std::istringstream lines{std::string(text)};
    std::string one;
    text::Line line;
    const auto triggers = parser->triggers();
    while (std::getline(lines, one)) {
      line.raw = line.body = one;
      ++line.number;
      // As the text reader does: only lines that hold a trigger.
      for (const auto t : triggers) {
        if (one.find(t) == std::string::npos) continue;
        parser->on_line(line, {}, ev);
        break;
      }
    }
    parser->on_end({}, ev);
  }
  std::string field(std::size_t event, std::string_view key) const {
    for (const auto& [k, v] : ev.events.at(event).fields) {
      if (ev.text(k) == key) return std::string(ev.text(v));
    }
    return {};
  }
  std::string kind(std::size_t event) const { return std::string(ev.text(ev.events.at(event).kind)); }
  std::size_t count(std::string_view k) const {
    std::size_t n = 0;
    for (const auto& e : ev.events) n += ev.text(e.kind) == k;
    return n;
  }
  model::Evidence ev;
};

TEST_F(KernelLog, a_line_with_both_clocks_dates_those_since_boot) {
  feed(
      "[   10.000000] NVRM: GPU at PCI:0000:c4:00: GPU-1 has fallen off the bus.\n"
      "2025-01-21T04:41:44Z gn7 kernel: [   12.300000] NVRM: Xid (PCI:0000:c4:00): 79, pid=1, GPU has fallen off the bus.\n"
      "[   15.300000] NVRM: Xid (PCI:0000:c4:00): 31, pid=1, MMU Fault\n");
  ASSERT_GE(ev.events.size(), 3U);
  constexpr std::int64_t kS = 1'000'000'000, kDated = 1737434504 * kS;
  EXPECT_EQ(ev.events.front().time.ns, kDated - 2'300'000'000);
  EXPECT_EQ(ev.events.back().time.ns, kDated + 3 * kS);
  for (const auto& e : ev.events) EXPECT_EQ(e.time.kind, model::TimeKind::kUnix);
}

TEST_F(KernelLog, without_such_a_line_the_time_since_boot_stays) {
  feed("[   10.000000] NVRM: Xid (PCI:0000:c4:00): 79, pid=1, GPU has fallen off the bus.\n");
  EXPECT_EQ(ev.events.at(0).time.kind, model::TimeKind::kMonotonic);
}

TEST_F(KernelLog, xid_becomes_an_event) {
  feed(
      "Aug 17 00:00:24 gn7 kernel: NVRM: Xid (PCI:0000:c4:00): 45, pid=51, name=python3, Ch 1 caused by previous Xid 149\n"
      "[Thu Jul 16 04:41:09 2026] NVRM: Xid (PCI:0000:97:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 "
      "(GPU Reset Required)\n");
  ASSERT_THAT(ev.events, SizeIs(2));
  EXPECT_EQ(kind(0), "kernel.xid");
  EXPECT_EQ(field(0, "xid"), "45");
  EXPECT_EQ(field(0, "caused_by"), "149");
  EXPECT_EQ(ev.text(ev.events[0].node), "gn7");
  EXPECT_EQ(ev.text(ev.events[0].gpu), "0000:c4:00");
  EXPECT_EQ(ev.events[0].pid, 51);
  EXPECT_EQ(field(1, "action"), "GPU Reset Required");
  EXPECT_EQ(ev.events[1].time.kind, model::TimeKind::kUnix);
}

TEST_F(KernelLog, sxid_data_belongs_to_its_fault) {
  feed(
      "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n"
      "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Severity 1 Engine instance 30 Sub-engine instance 00\n"
      "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Data {0x50610002, 0x10000000}\n");
  // The driver's prefix holds no trigger of its own: "Xid (" does.
  ASSERT_THAT(ev.events, SizeIs(1));
  EXPECT_EQ(kind(0), "kernel.sxid");
  EXPECT_EQ(field(0, "switch"), "nvidia-nvswitch3");
}

TEST_F(KernelLog, fallen_off_the_bus_in_one_and_three_lines) {
  feed(
      "[ 2217.510034] NVRM: The NVIDIA GPU 0000:b2:00.0\n"
      "               NVRM: (PCI ID: 10de:26b5) installed in this system has\n"
      "               NVRM: fallen off the bus and is not responding to commands.\n"
      "[ 2217.661911] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01  Release Build\n"
      "[ 9000.000000] NVRM: GPU 0000:41:00.0: GPU has fallen off the bus.\n");
  ASSERT_THAT(ev.events, SizeIs(3));
  EXPECT_EQ(kind(0), "kernel.fell_off");
  EXPECT_EQ(field(0, "pci"), "0000:b2:00");
  EXPECT_EQ(ev.events[0].at.pos, 1u);
  EXPECT_EQ(ev.events[0].line_count, 3u);
  EXPECT_EQ(field(1, "version"), "570.158.01");
  EXPECT_EQ(field(2, "pci"), "0000:41:00");
  EXPECT_EQ(ev.text(ev.facts.at(0).value), "570.158.01");
}

TEST_F(KernelLog, one_kill_is_one_event) {
  feed(
      "[1.0] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
      "[1.0] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=step_0,mems_allowed=0-1,oom_memcg=/slurm/job_7,"
      "task_memcg=/slurm/job_7/step_0,task=python3,pid=4519,uid=1000\n"
      "[1.1] Memory cgroup out of memory: Killed process 4519 (python3) total-vm:90kB, anon-rss:70kB, file-rss:0kB\n"
      "[2.0] Out of memory: Kill process 456 (python) score 50 or sacrifice child\n"
      "[3.0] Killed process 123, UID 48, (httpd) total-vm:7kB, anon-rss:6kB\n");
  EXPECT_EQ(count("kernel.oom_kill"), 3u);
  EXPECT_EQ(count("kernel.oom_invoked"), 1u);
  EXPECT_EQ(field(1, "pid"), "4519");
  EXPECT_EQ(field(1, "task"), "python3");
  EXPECT_EQ(field(1, "constraint"), "CONSTRAINT_MEMCG");
  EXPECT_EQ(field(1, "cgroup"), "/slurm/job_7/step_0");
  EXPECT_EQ(field(1, "anon_rss_kb"), "70");
  EXPECT_EQ(field(3, "task"), "httpd");
}

TEST_F(KernelLog, host_faults) {
  feed(
      "INFO: task py:worker:4519 blocked for more than 120 seconds.\n"
      "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python3:4519]\n"
      "NMI watchdog: Watchdog detected hard LOCKUP on cpu 7\n"
      "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:\n"
      "pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0\n"
      "nvme 0000:3c:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)\n"
      "mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 5: be00000000800400\n"
      "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#1\n"
      "python3[4519]: segfault at 10 ip 00007f sp 00007f error 4 in libtorch_cpu.so[7f00+1000]\n"
      "traps: python3[4520] trap invalid opcode ip:7f sp:7f error:0 in x.so[7f+1]\n"
      "Kernel panic - not syncing: Fatal exception\n");
  ASSERT_THAT(ev.events, SizeIs(11));
  EXPECT_EQ(field(0, "task"), "py:worker");
  EXPECT_EQ(field(0, "pid"), "4519");
  EXPECT_EQ(field(0, "seconds"), "120");
  EXPECT_EQ(field(1, "seconds"), "22");
  EXPECT_EQ(field(2, "cpu"), "7");
  EXPECT_EQ(kind(3), "kernel.rcu_stall");
  EXPECT_EQ(field(4, "device"), "0000:3b:00.0");
  EXPECT_EQ(field(4, "severity"), "uncorrected fatal");
  EXPECT_EQ(field(5, "device"), "0000:3c:00.0");
  EXPECT_EQ(field(5, "severity"), "corrected");
  EXPECT_EQ(kind(6), "kernel.mce");
  EXPECT_EQ(field(7, "corrected"), "no");
  EXPECT_EQ(field(8, "module"), "libtorch_cpu.so");
  EXPECT_EQ(field(9, "pid"), "4520");
  EXPECT_EQ(kind(10), "kernel.panic");
}

TEST_F(KernelLog, ports_and_storage) {
  feed(
      "[Fri Jul  3 08:11:20 2026] mlx5_core 0000:9a:00.0 mlx5_3: Port: 1 Link DOWN\n"
      "mlx5_core 0000:9a:00.0 ens1f0np0: Link up\n"
      "mlx5_core 0000:9a:00.0: Port module event: module 0, Cable unplugged\n"
      "mlx5_core 0000:9a:00.0: mlx5_health_check:1 device's health compromised - reached miss count\n"
      "bnxt_en 0000:3b:00.0 eth2: NIC Link is Down\n"
      "Aug 17 06:18:01 vm0 systemd-networkd[5398]: ib6: lost carrier\n"
      "nfs: server nas1 not responding, still trying\n"
      "nfs: server nas1 OK\n"
      "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -2)\n"
      "blk_update_request: I/O error, dev nvme0n1, sector 12\n");
  ASSERT_THAT(ev.events, SizeIs(10));
  EXPECT_EQ(field(0, "device"), "mlx5_3");
  EXPECT_EQ(field(0, "port"), "1");
  EXPECT_EQ(field(0, "state"), "down");
  EXPECT_EQ(field(1, "device"), "ens1f0np0");
  EXPECT_EQ(field(1, "state"), "up");
  EXPECT_EQ(field(2, "device"), "0000:9a:00.0");
  EXPECT_EQ(field(2, "state"), "down");
  EXPECT_EQ(kind(3), "kernel.nic_health");
  EXPECT_EQ(field(4, "device"), "eth2");
  EXPECT_EQ(field(5, "device"), "ib6");
  EXPECT_EQ(field(5, "state"), "down");
  EXPECT_EQ(field(6, "state"), "not responding");
  EXPECT_EQ(field(6, "server"), "nas1");
  EXPECT_EQ(field(7, "state"), "ok");
  EXPECT_EQ(field(8, "symbol"), "ib_register_peer_memory_client");
  EXPECT_EQ(field(9, "device"), "nvme0n1");
}

TEST_F(KernelLog, driver_text_without_fault_is_silent) {
  feed(
      "NVRM: GPU at PCI:0000:9b:00: GPU-509665ad-b600-ac93-3616-d754b23d636d\n"
      "nvidia-nvswitch2: open (major=510)\n"
      "nvidia 0000:9b:00.0: enabling device\n"
      "mlx5_core 0000:9a:00.0: firmware version: 28.39.1002\n");
  EXPECT_THAT(ev.events, SizeIs(0));
  ASSERT_THAT(ev.facts, SizeIs(1));
  EXPECT_EQ(ev.text(ev.facts[0].subject), "0000:9b:00");
}

TEST_F(KernelLog, real_files) {
  const char* data = std::getenv("HOLTER_TEST_DATA");
  if (!data || !*data) GTEST_SKIP() << "HOLTER_TEST_DATA is not set";
  const auto read = [&](const char* name) {
    std::ifstream in(std::string(data) + "/node/" + name);
    EXPECT_TRUE(in) << name;
    std::stringstream text;
    text << in.rdbuf();
    ev = {};
    feed(text.str());
  };
  read("gpud/dmesg-with-xid-119.log");
  EXPECT_EQ(count("kernel.xid"), 5u);
  EXPECT_EQ(field(0, "xid"), "119");
  read("gpud/memory.dmesg.decode.iso.log");
  EXPECT_EQ(count("kernel.xid"), 17u);
  EXPECT_EQ(count("kernel.oom_kill"), 5u);
  read("gpud/kmsg.1.log");
  EXPECT_THAT(ev.events, SizeIs(0));
  read("aznhc/1dev_6flap_syslog");
  EXPECT_EQ(count("kernel.link"), 12u);
}

}  // namespace
}  // namespace holter::formats::kernel
