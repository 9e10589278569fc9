// SPDX-License-Identifier: Apache-2.0
#include "platform/probes.h"

#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>

namespace holter::platform {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Probes : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "holter-probes-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text, bool executable = false) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
    if (executable) fs::permissions(root_ / path, fs::perms::owner_all);
  }

  Probe probe(const std::string& name, std::map<std::string, std::string> env = {}) {
    const Host host{.root = root_.string(),
                    .env = [&](const char* key) -> const char* {
                      const auto it = env.find(key);
                      return it == env.end() ? nullptr : it->second.c_str();
                    },
                    .live = false};
    for (const auto& p : probe_host(host)) {
      if (p.name == name) return p;
    }
    ADD_FAILURE() << "no probe " << name;
    return {};
  }

  fs::path root_;
};

TEST_F(Probes, PtraceDependsOnCapabilityAndScope) {
  put("proc/sys/kernel/yama/ptrace_scope", "1\n");
  put("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
  EXPECT_EQ(probe("stacks.ptrace").state, State::kNo);
  EXPECT_THAT(probe("stacks.ptrace").hint, HasSubstr("SYS_PTRACE"));
  put("proc/self/status", "Name:\tx\nCapEff:\t0000000000080000\n");
  EXPECT_EQ(probe("stacks.ptrace").state, State::kYes);
  put("proc/sys/kernel/yama/ptrace_scope", "3\n");
  EXPECT_EQ(probe("stacks.ptrace").state, State::kNo);
}

TEST_F(Probes, KernelLogNeedsDeviceAndRight) {
  put("proc/sys/kernel/dmesg_restrict", "1\n");
  put("dev/kmsg", "");
  EXPECT_EQ(probe("kernel.log").state, State::kNo);
  put("proc/self/status", "CapEff:\t0000000400000000\n");
  EXPECT_EQ(probe("kernel.log").state, State::kYes);
  fs::remove(root_ / "dev/kmsg");
  EXPECT_EQ(probe("kernel.log").state, State::kNo);
}

TEST_F(Probes, ToolsAreLookedUpOnThePath) {
  EXPECT_EQ(probe("stacks.gdb").state, State::kNo);
  put("opt/bin/gdb", "", true);
  const auto found = probe("stacks.gdb", {{"PATH", "/usr/bin:/opt/bin"}});
  EXPECT_EQ(found.state, State::kYes);
  EXPECT_EQ(found.detail, "/opt/bin/gdb");
  EXPECT_TRUE(found.hint.empty());
}

TEST_F(Probes, DumpsAreFoundByPrefix) {
  EXPECT_EQ(probe("dumps.flight-recorder").state, State::kLimited);
  put("tmp/nccl_trace_rank_0", "x");
  EXPECT_EQ(probe("dumps.flight-recorder").state, State::kYes);
  put("scratch/fr_0", "x");
  EXPECT_THAT(probe("dumps.flight-recorder", {{"TORCH_FR_DUMP_TEMP_FILE", "/scratch/fr_"}}).detail,
              HasSubstr("1 files"));
}

}  // namespace
}  // namespace holter::platform
