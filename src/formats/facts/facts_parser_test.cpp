// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/facts_parser.h"

#include <cmath>

#include <gmock/gmock.h>

#include "base/strings.h"

namespace holter::formats::facts {
namespace {

// Facts of a text, as the text reader would ask for them, without unwrapping.
class FactsTest : public ::testing::Test {
 protected:
  void parse(std::string_view text) {
    ev_.files.resize(1);
    const FileContext context{model::FileId{0}, &ev_.files[0]};
    FactsParser parser;
    std::uint64_t number = 0;
    for (const auto body : base::split(text, '\n')) {
      text::Line line;
      line.raw = line.body = body;
      line.number = ++number;
      if (parser.wants_all()) parser.on_line(line, context, ev_);
    }
    parser.on_end(context, ev_);
  }
  const model::Fact* find(std::string_view key, std::string_view subject = {}, std::string_view node = {}) const {
    for (const auto& f : ev_.facts) {
      if (ev_.text(f.key) == key && (subject.empty() || ev_.text(f.subject) == subject) &&
          (node.empty() || ev_.text(f.node) == node)) {
        return &f;
      }
    }
    return nullptr;
  }
  std::string value(std::string_view key, std::string_view subject = {}, std::string_view node = {}) const {
    const auto* f = find(key, subject, node);
    return f ? std::string(ev_.text(f->value)) : "(none)";
  }
  model::Evidence ev_;
};

TEST_F(FactsTest, LimitsWithHostAndContext) {
  parse(
      "ab12 (inside srun step): max locked memory (kbytes, -l) 8192\n"
      "login shell on ab12: max locked memory (kbytes, -l) unlimited\n"
      "max locked memory           (kbytes, -l) 65536\n");
  ASSERT_EQ(ev_.facts.size(), 3u);
  EXPECT_EQ(ev_.facts[0].number, 8192);
  EXPECT_EQ(ev_.text(ev_.facts[0].node), "ab12");
  EXPECT_EQ(ev_.text(ev_.facts[0].context), "inside srun step");
  EXPECT_TRUE(std::isinf(ev_.facts[1].number));
  EXPECT_EQ(ev_.text(ev_.facts[1].context), "login shell");
  EXPECT_EQ(ev_.facts[2].number, 65536);
  EXPECT_EQ(ev_.facts[2].at.pos, 3u);
}

TEST_F(FactsTest, ProcLimitsAndUnits) {
  parse(
      "Limit                     Soft Limit           Hard Limit           Units\n"
      "Max locked memory         67108864             67108864             bytes\n"
      "Max open files            1024                 524288               files\n"
      "LimitMEMLOCK=infinity\n");
  EXPECT_EQ(find("limit.memlock_kb")->number, 65536);
  EXPECT_EQ(find("limit.nofile")->number, 1024);
}

TEST_F(FactsTest, DfHumanAndInodes) {
  parse(
      "Filesystem      Size  Used Avail Use% Mounted on\n"
      "shm              64M   63M  1.0M  99% /dev/shm\n"
      "Filesystem      Inodes IUsed IFree IUse% Mounted on\n"
      "/dev/sda1       100    100   0     100% /scratch\n");
  EXPECT_EQ(find("disk.size_bytes", "/dev/shm")->number, 64 * 1024 * 1024);
  EXPECT_EQ(find("disk.use_pct", "/dev/shm")->number, 99);
  EXPECT_EQ(find("disk.inode_use_pct", "/scratch")->number, 100);
}

TEST_F(FactsTest, LspciAcsAndLink) {
  parse(
      "00:03.1 PCI bridge: AMD Starship/Matisse GPP Bridge\n"
      "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L1\n"
      "\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x8 (downgraded)\n"
      "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+\n"
      "c1:00.0 3D controller: NVIDIA Corporation AD102GL (rev ff) (prog-if ff)\n"
      "\t!!! Unknown header type 7f\n");
  EXPECT_EQ(find("pci.acs", "00:03.1")->number, 1);
  EXPECT_EQ(find("pci.link_cap_gts", "00:03.1")->number, 16);
  EXPECT_EQ(find("pci.link_sta_width", "00:03.1")->number, 8);
  EXPECT_EQ(value("pci.absent", "c1:00.0"), "rev ff");
}

TEST_F(FactsTest, NvidiaSmiQuerySections) {
  parse(
      "Driver Version                            : 570.133.20\n"
      "GPU 00000000:97:00.0\n"
      "    ECC Errors\n"
      "        Volatile\n"
      "            DRAM Uncorrectable            : 2\n"
      "        Aggregate\n"
      "            DRAM Uncorrectable            : 11\n"
      "    Remapped Rows\n"
      "        Pending                           : No\n"
      "    Fabric\n"
      "        State                             : In Progress\n");
  EXPECT_EQ(value("version.driver"), "570.133.20");
  EXPECT_EQ(value("smi.ecc_errors.aggregate.dram_uncorrectable", "0000:97:00"), "11");
  EXPECT_EQ(value("smi.ecc_errors.volatile.dram_uncorrectable", "0000:97:00"), "2");
  EXPECT_EQ(value("smi.remapped_rows.pending", "0000:97:00"), "No");
  EXPECT_EQ(value("smi.fabric.state", "0000:97:00"), "In Progress");
}

TEST_F(FactsTest, GpuListNvlinkAndTopology) {
  parse(
      "GPU 5: NVIDIA B200 (UUID: GPU-a1)\n"
      "NVML: Unable to retrieve NVLink information as all links are inActive\n"
      "GPU 6: NVIDIA B200 (UUID: GPU-a2)\n"
      "\t Link 0: 53.125 GB/s\n"
      "\t Link 1: <inactive>\n"
      "GPU 4: PCI 0000:A9:00.0\n"
      "\tGPU0\tGPU1\tCPU Affinity\n"
      "GPU0\t X \tPHB\t0-31\n"
      "GPU1\tPHB\t X \t0-31\n");
  EXPECT_NE(find("nvlink.all_inactive", "5"), nullptr);
  EXPECT_EQ(value("nvlink.link", "6"), "53.125 GB/s");
  EXPECT_EQ(value("gpu.pci", "4"), "0000:a9:00");
  EXPECT_EQ(value("topo.path", "GPU0-GPU1"), "PHB");
}

TEST_F(FactsTest, HostsModulesMountsPlacement) {
  parse(
      "10.9.8.6 cd06\n"
      "cd06: nvidia_peermem 16384 0\n"
      "cd07: (nvidia_peermem not loaded)\n"
      "cd06 Linux 5.15.0-122-generic\n"
      "cd06: /dev/nvme1n1 on /scratch type xfs (rw,relatime)\n"
      "ranks 8-9 on cd07 (rank 9 = GPU 1 PCI 0000:5d:00)\n"
      "cd08 expected_gpus=4\n"
      "ivhd0 ivhd1\n");
  EXPECT_EQ(value("host.ip", "", "cd06"), "10.9.8.6");
  EXPECT_EQ(value("module.nvidia_peermem", "", "cd06"), "loaded");
  EXPECT_EQ(value("module.nvidia_peermem", "", "cd07"), "not loaded");
  EXPECT_EQ(value("host.kernel", "", "cd06"), "5.15.0-122-generic");
  EXPECT_EQ(value("mount.type", "/scratch", "cd06"), "xfs");
  EXPECT_EQ(value("rank.gpu", "0000:5d:00"), "1");
  EXPECT_EQ(find("inventory.expected_gpus", "", "cd08")->number, 4);
  EXPECT_EQ(find("iommu.units")->number, 2);
}

TEST_F(FactsTest, SectionsNameTheHost) {
  parse(
      "=== ef01 ===\nmax locked memory (kbytes, -l) 64\n=== ef02 ===\nmax locked memory (kbytes, -l) "
      "unlimited\n");
  EXPECT_EQ(find("limit.memlock_kb", "", "ef01")->number, 64);
  EXPECT_TRUE(std::isinf(find("limit.memlock_kb", "", "ef02")->number));
}

TEST_F(FactsTest, SecretsAreNeverKept) {
  parse("HF_TOKEN=hf_abcdef\nNCCL_DEBUG=INFO\nexport AWS_SECRET_ACCESS_KEY='x/y'\nMAX_TOKENS=5\n");
  EXPECT_EQ(value("env.HF_TOKEN"), "(masked)");
  EXPECT_EQ(value("env.NCCL_DEBUG"), "INFO");
  EXPECT_EQ(value("env.MAX_TOKENS"), "5");
  for (std::size_t id = 0; id < ev_.strings.size(); ++id) {
    EXPECT_EQ(ev_.text(model::StrId{static_cast<std::uint32_t>(id)}).find("hf_abcdef"), std::string_view::npos);
    EXPECT_EQ(ev_.text(model::StrId{static_cast<std::uint32_t>(id)}).find("x/y"), std::string_view::npos);
  }
}

TEST_F(FactsTest, NotesMetricsAndExperiments) {
  parse(
      "kv usage 0.38, preemptions 0, gpu util 99%\n"
      "dtype=bfloat16: normal answers\n"
      "NCCL_P2P_DISABLE=1 all_reduce_perf -g 2: ok, busbw 9.8 GB/s\n"
      "checkpoint hash identical on all nodes\n");
  EXPECT_EQ(find("kv.kv_usage")->number, 0.38);
  EXPECT_EQ(find("kv.gpu_util")->number, 99);
  EXPECT_EQ(value("kv.dtype_bfloat16"), "normal answers");
  EXPECT_EQ(value("kv.nccl_p2p_disable_1_all_reduce_perf_g_2"), "ok, busbw 9.8 GB/s");
  EXPECT_EQ(value("note"), "checkpoint hash identical on all nodes");
}

TEST_F(FactsTest, OutOfMemoryTextNewAndOld) {
  parse(
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of "
      "79.15 GiB of "
      "which 1.00 GiB is free. Of the allocated memory 70.50 GiB is allocated by PyTorch, and 512.00 MiB is "
      "reserved by "
      "PyTorch but unallocated.\n"
      "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 39.59 GiB total capacity; 30.00 "
      "GiB already "
      "allocated; 1.50 GiB free; 36.00 GiB reserved in total by PyTorch)\n");
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  EXPECT_DOUBLE_EQ(find("oom.allocated_bytes", "3")->number, 70.5 * kGiB);
  EXPECT_DOUBLE_EQ(find("oom.unallocated_bytes", "3")->number, 0.5 * kGiB);
  EXPECT_DOUBLE_EQ(find("oom.reserved_bytes", "0")->number, 36 * kGiB);
  EXPECT_DOUBLE_EQ(find("oom.free_bytes", "0")->number, 1.5 * kGiB);
}

TEST_F(FactsTest, ServicesAndListeners) {
  parse(
      "● nvidia-fabricmanager.service - NVIDIA fabric manager service\n"
      "     Loaded: loaded (/lib/systemd/system/nvidia-fabricmanager.service; enabled)\n"
      "     Active: failed (Result: exit-code) since Tue 2026-03-03 10:00:00 UTC; 3h ago\n"
      "slurmd: active\n"
      "LISTEN 0 100 10.9.5.2:40061 0.0.0.0:* users:((\"agent\",pid=1911,fd=14))\n"
      "nr_throttled 51234\n");
  EXPECT_EQ(value("service.state", "nvidia-fabricmanager"), "failed (Result: exit-code)");
  EXPECT_EQ(value("service.state", "slurmd"), "active");
  EXPECT_EQ(find("listen.port")->number, 40061);
  EXPECT_EQ(value("listen.port"), "agent pid 1911");
  EXPECT_EQ(find("cgroup.nr_throttled")->number, 51234);
}

TEST_F(FactsTest, RdmaTools) {
  parse(
      "CA 'mlx5_3'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Polling\n\t\tRate: "
      "10\n"
      "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a01:0203\t10.1.2.3\tv2\teth0\n");
  EXPECT_EQ(value("ib.physical_state"), "Polling");
  EXPECT_EQ(value("gid.entry", "mlx5_0 port 1"), "10.1.2.3 v2 eth0");
}

TEST_F(FactsTest, ALogDoesNotBecomeFacts) {
  std::string log;
  for (int i = 0; i < 5000; ++i)
    log += "some free text of a program number " + std::to_string(i) + ": value " + std::to_string(i) + "\n";
  parse(log);
  EXPECT_TRUE(ev_.facts.empty());
}

TEST_F(FactsTest, StacksAreNoNotes) {
  parse("Process 3300: python train.py\nThread 3300 (idle): \"MainThread\"\n    wait (threading.py:320)\n");
  EXPECT_TRUE(ev_.facts.empty());
}

TEST_F(FactsTest, XmlQueryHasTheNamesOfTheTextForm) {
  parse(
      "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n\t<driver_version>550.90.07</driver_version>\n"
      "\t<attached_gpus>1</attached_gpus>\n\t<gpu id=\"00000000:66:00.0\">\n\t\t<pci>\n\t\t\t<pci_gpu_link_info>\n"
      "\t\t\t\t<pcie_gen>\n\t\t\t\t\t<max_link_gen>5</max_link_gen>\n\t\t\t\t\t<current_link_gen>3</current_link_gen>\n"
      "\t\t\t\t</pcie_gen>\n\t\t\t</pci_gpu_link_info>\n\t\t</pci>\n\t\t<remapped_rows>\n"
      "\t\t\t<remapped_row_failure>Yes</remapped_row_failure>\n\t\t</remapped_rows>\n\t\t<clocks_event_reasons>\n"
      "\t\t\t<clocks_event_reason_hw_slowdown>Active</clocks_event_reason_hw_slowdown>\n"
      "\t\t</clocks_event_reasons>\n\t</gpu>\n</nvidia_smi_log>\n<unrelated>text</unrelated>\n");
  EXPECT_EQ(value("version.driver"), "550.90.07");
  EXPECT_EQ(value("gpu.attached"), "1");
  EXPECT_EQ(value("smi.pci.gpu_link_info.pcie_generation.current", "0000:66:00"), "3");
  EXPECT_EQ(value("smi.remapped_rows.remapping_failure_occurred", "0000:66:00"), "Yes");
  EXPECT_EQ(value("smi.clocks_event_reasons.hw_slowdown", "0000:66:00"), "Active");
  EXPECT_EQ(value("smi.unrelated"), "(none)");
}

TEST_F(FactsTest, XmlThatNestsWithoutEnd) {
  std::string text = "<nvidia_smi_log>\n<gpu id=\"00000000:66:00.0\">\n";
  for (int i = 0; i < 2000; ++i) text += "<a>\n";
  text += "<leaf>1</leaf>\n</gpu>\n</a>\n<leaf>2</leaf>\n";
  parse(text);
  ASSERT_EQ(ev_.facts.size(), 1u);
  EXPECT_EQ(ev_.text(ev_.facts[0].key), "smi.a.a.a.a.a.a.a.a.leaf");
}

TEST_F(FactsTest, ScreenOfALostGpu) {
  parse(
      "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1A:00.0 Off |                    0 |\n"
      "| N/A   38C     P0        612W /  700W    |   70190MiB /  81559MiB |     99%      Default |\n"
      "|   5  NVIDIA H100 80GB HBM3          On  |   00000000:C0:00.0 Off |                 ERR! |\n"
      "| ERR!  ERR!   ERR!       ERR! /  ERR!    |      0MiB /  81559MiB |    ERR!      Default |\n"
      "Unable to determine the device handle for GPU0000:C0:00.0: GPU is lost.  Reboot the system\n");
  EXPECT_EQ(value("smi.ecc_errors.volatile.uncorrectable", "0000:1a:00"), "0");
  EXPECT_EQ(find("smi.unreadable", "0000:1a:00"), nullptr);
  ASSERT_NE(find("smi.unreadable", "0000:c0:00"), nullptr);
  EXPECT_EQ(find("smi.unreadable", "0000:c0:00")->number, 6);
  EXPECT_EQ(value("gpu.lost", "0000:c0:00"), "GPU is lost.  Reboot the system");
}

TEST_F(FactsTest, DcgmHealthBySystem) {
  parse(
      "| Health Monitor Report                                 |\n"
      "+===========================+===========================+\n"
      "| Overall Health            | Failure                   |\n"
      "| GPU                       |                           |\n"
      "| -> 4                      | Failure                   |\n"
      "|       -> Memory system    | Failure                   |\n"
      "|                           | Volatile double-bit ECC   |\n"
      "|                           | errors detected in GPU 4. |\n"
      "+---------------------------+---------------------------+\n");
  EXPECT_EQ(value("dcgm_health.memory_system", "4"), "Failure");
  EXPECT_EQ(value("dcgm_health.note", "4"), "Volatile double-bit ECC errors detected in GPU 4.");
}

TEST_F(FactsTest, EnvironmentNamesItsHostAnywhere) {
  parse("NCCL_ALGO=Tree\nHOSTNAME=qe23\nNCCL_PROTO=Simple\n");
  EXPECT_EQ(value("env.NCCL_ALGO", {}, "qe23"), "Tree");
  EXPECT_EQ(value("env.NCCL_PROTO", {}, "qe23"), "Simple");
}

}  // namespace
}  // namespace holter::formats::facts
