// SPDX-License-Identifier: Apache-2.0
#include "collect/host.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "formats/rules/rules.h"

namespace holter::collect {
namespace {

namespace fs = std::filesystem;

class MemorySink final : public Sink {
 public:
  base::Result<bool> add(const std::string& name, std::string_view data, base::UnixNs) override {
    files[name] = data;
    return true;
  }
  base::Result<bool> finish() override { return true; }
  std::map<std::string, std::string> files;
};

// A captured tree with one stopped rank.
class Host : public ::testing::Test {
 protected:
  Host() : root_(fs::path(::testing::TempDir()) / "collect_host") {
    fs::remove_all(root_);
    write("proc/77/environ", std::string("RANK=3\0WORLD_SIZE=8\0NCCL_DEBUG=INFO\0WANDB_API_KEY=s3cr3t\0", 58));
    write("proc/77/cmdline", "python3");
    write("proc/77/stat", "77 (python3) T 1");
    write("proc/77/limits", "Max locked memory  65536 65536 bytes\n");
    write("proc/77/task/77/stat", "77 (python3) D 1");
    write("proc/77/task/77/comm", "python3\n");
    write("proc/77/task/77/wchan", "folio_wait_bit_common");
    write("proc/77/task/77/stack", "[<0>] folio_wait_bit_common+0x13d/0x350\n");
    write("proc/77/root/tmp/nccl_trace_rank_3", "a dump");
    write("sys/class/infiniband/mlx5_0/ports/1/counters/link_downed", "4\n");
    write("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "0\n");
  }
  ~Host() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  HostManifest collect(const std::vector<Item>& items) {
    HostOptions options;
    options.root = root_.string();
    options.name = "gn7";
    options.ask_ras = false;
    auto done = collect_host(items, options, sink_);
    EXPECT_TRUE(done.has_value());
    return done ? std::move(*done) : HostManifest{};
  }
  static const Record* record(const HostManifest& m, std::string_view item) {
    for (const auto& r : m.records) {
      if (r.item == item) return &r;
    }
    return nullptr;
  }

  fs::path root_;
  MemorySink sink_;
};

TEST_F(Host, a_stuck_rank_is_read_and_not_attached_to) {
  const auto manifest = collect({});
  ASSERT_EQ(manifest.processes.size(), 1U);
  EXPECT_EQ(manifest.processes[0].rank, 3);
  const auto& threads = sink_.files.at("rank3/threads.proc.txt");
  EXPECT_NE(threads.find("State:\tD (disk sleep)"), std::string::npos);
  EXPECT_NE(threads.find("folio_wait_bit_common+0x13d"), std::string::npos);
  ASSERT_NE(record(manifest, "stacks"), nullptr);
  EXPECT_EQ(record(manifest, "stacks")->status, Status::kSkipped);
  EXPECT_EQ(record(manifest, "stacks_python"), nullptr);
  EXPECT_EQ(sink_.files.at("rank3/nccl_trace_rank_3"), "a dump");
}

TEST_F(Host, secrets_stay_on_the_host) {
  collect({});
  EXPECT_EQ(sink_.files.at("rank3/env.txt"), "RANK=3\nWORLD_SIZE=8\nNCCL_DEBUG=INFO\n");
  for (const auto& [name, text] : sink_.files) EXPECT_EQ(text.find("s3cr3t"), std::string::npos) << name;
}

TEST_F(Host, counters_become_lines_and_alternatives_are_tried) {
  auto items = host_items(formats::rules::builtin());
  ASSERT_TRUE(items.has_value());
  std::erase_if(*items, [](const Item& i) { return i.name != "rdma_counters"; });
  Take missing{.file = "x.txt", .deadline = std::chrono::seconds(1), .max_bytes = 1024, .command = {"no-such-tool"}};
  Take echo{.file = "y.txt", .deadline = std::chrono::seconds(1), .max_bytes = 1024, .command = {"echo", "hello"}};
  items->push_back({"two_ways", {missing, echo}});
  items->push_back({"nowhere", {missing}});
  const auto manifest = collect(*items);
  const auto& counters = sink_.files.at("rdma-counters.txt");
  EXPECT_NE(counters.find("/ports/1/counters/link_downed: 4\n"), std::string::npos) << counters;
  EXPECT_EQ(sink_.files.at("y.txt"), "hello\n");
  EXPECT_EQ(record(manifest, "nowhere")->status, Status::kMissing);
  EXPECT_EQ(record(manifest, "nowhere")->detail, "no-such-tool is not installed");
}

TEST_F(Host, the_time_of_the_host_is_kept) {
  HostOptions options;
  options.root = root_.string();
  options.ask_ras = false;
  options.deadline = std::chrono::milliseconds(0);
  auto items = host_items(formats::rules::builtin());
  ASSERT_TRUE(items.has_value());
  const auto done = collect_host(*items, options, sink_);
  ASSERT_TRUE(done.has_value());
  for (const auto& r : done->records) {
    if (r.item == "processes") continue;
    EXPECT_EQ(r.status, Status::kSkipped) << r.item;
  }
  EXPECT_TRUE(sink_.files.contains("manifest.json"));
}

TEST(Items, the_table_is_good_and_bad_rows_are_named) {
  EXPECT_GT(host_items(formats::rules::builtin())->size(), 20U);
  model::Rules rules;
  rules.tables["collect.csv"].rows = {{"a", "a.txt", "0", "1", "date"}};
  const auto items = host_items(rules);
  ASSERT_FALSE(items.has_value());
  EXPECT_NE(items.error().to_string().find("collect.csv: a"), std::string::npos);
}

}  // namespace
}  // namespace holter::collect
