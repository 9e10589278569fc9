// SPDX-License-Identifier: Apache-2.0
#include "platform/processes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holter::platform {
namespace {

namespace fs = std::filesystem;

class Processes : public ::testing::Test {
 protected:
  Processes() : root_(fs::path(::testing::TempDir()) / "processes") { fs::remove_all(root_); }
  ~Processes() override { fs::remove_all(root_); }

  void process(int pid, std::string environment, bool device = false) {
    const auto folder = root_ / "proc" / std::to_string(pid);
    fs::create_directories(folder / "fd");
    for (auto& c : environment) c = c == ' ' ? '\0' : c;
    std::ofstream(folder / "environ", std::ios::binary) << environment;
    std::ofstream(folder / "cmdline", std::ios::binary) << std::string("python3\0train.py\0", 17);
    std::ofstream(folder / "stat") << pid << " (a) b) S 1 1 1 0 -1 4 1 0 0 0 1 1 0 0 20 0 1 0 50000 0 0";
    std::ofstream(root_ / "proc" / "stat") << "cpu 1 2\nbtime 1700000000\nprocesses 9\n";
    if (device) fs::create_symlink("/dev/nvidia3", folder / "fd" / "17");
  }
  std::vector<int> pids(const ProcessFilter& filter = {}) {
    std::vector<int> out;
    for (const auto& p : find_job_processes(root_.string(), filter)) out.push_back(p.pid);
    return out;
  }

  fs::path root_;
};

TEST_F(Processes, ranks_and_devices_make_a_job) {
  process(10, "HOME=/root");
  process(11, "RANK=3 WORLD_SIZE=8 LOCAL_RANK=3");
  process(12, "HOME=/srv", true);
  process(13, "RANK=1");
  const auto found = find_job_processes(root_.string(), {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].pid, 11);
  EXPECT_EQ(found[0].rank, 3);
  EXPECT_EQ(found[0].command, "python3 train.py");
  EXPECT_EQ(found[0].state, 'S');
  EXPECT_EQ(found[0].started_ns, (1'700'000'000LL + 50'000 / ::sysconf(_SC_CLK_TCK)) * 1'000'000'000);
  EXPECT_EQ(found[1].pid, 12);
  EXPECT_EQ(found[1].rank, std::nullopt);
}

TEST_F(Processes, workers_that_inherit_the_rank_are_left_out) {
  process(20, "RANK=0 WORLD_SIZE=2");
  process(21, "RANK=0 WORLD_SIZE=2");
  EXPECT_EQ(pids(), std::vector<int>{20});
  process(22, "RANK=0 WORLD_SIZE=2", true);
  EXPECT_EQ(pids(), std::vector<int>{22}) << "a launcher has no device";
}

TEST_F(Processes, one_job_of_several) {
  process(30, "SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=2");
  process(31, "SLURM_JOB_ID=8 SLURM_PROCID=0 SLURM_NTASKS=2");
  EXPECT_EQ(pids(), (std::vector<int>{30, 31}));
  EXPECT_EQ(pids({.slurm_job = "8"}), std::vector<int>{31});
}

TEST_F(Processes, damaged_entries_are_passed_over) {
  process(40, "RANK=99999999999999999999 WORLD_SIZE=2");
  process(41, "RANK=-1 WORLD_SIZE=2");
  fs::create_directories(root_ / "proc" / "42");
  std::ofstream(root_ / "proc" / "42" / "cmdline") << "sshd";
  fs::create_directories(root_ / "proc" / "43");  // of the kernel
  std::size_t unreadable = 0;
  EXPECT_TRUE(find_job_processes(root_.string(), {}, &unreadable).empty());
  EXPECT_EQ(unreadable, 1U);
  EXPECT_TRUE(find_job_processes("/nowhere", {}).empty());
}

}  // namespace
}  // namespace holter::platform
