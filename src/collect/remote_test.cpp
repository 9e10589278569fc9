// SPDX-License-Identifier: Apache-2.0
#include "collect/remote.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace holter::collect {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// Hosts are shells here: the script that a host would run is passed to `sh -c PROGRAM`, which ignores it.
class Remote : public ::testing::Test {
 protected:
  Remote() : folder_(fs::path(::testing::TempDir()) / "collect_remote") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    options_.folder = folder_.string();
    options_.program = std::string(300'000, 'p');
    options_.deadline = milliseconds(1500);
  }
  ~Remote() override { fs::remove_all(folder_); }

  static Target host(const std::string& name, const std::string& does) {
    return {.host = name, .command = {"sh", "-c", does}};
  }
  std::string file(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
  RemoteOptions options_;
};

TEST_F(Remote, the_program_goes_in_and_the_archive_comes_out) {
  const auto out = collect_remote({host("gn1", "wc -c")}, options_);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].status, Status::kTaken) << out[0].detail;
  EXPECT_EQ(out[0].file, "gn1.tar.zst");
  EXPECT_EQ(file("gn1.tar.zst"), "300000\n");
}

TEST_F(Remote, hosts_that_fail_are_outcomes) {
  const auto out = collect_remote({host("gn1", "cat >/dev/null; echo archive"),
                                   host("gn2", "sleep 60"),
                                   host("gn3", "echo half; sleep 60"),
                                   host("gn4", "echo no route to host >&2; exit 255"),
                                   host("gn5", "echo Permission denied >&2; exit 255"),
                                   host("gn6", "kill -9 $$"),
                                   {.host = "gn7", .command = {"no-such-program"}}},
                                  options_);
  EXPECT_EQ(out[0].status, Status::kTaken);
  EXPECT_EQ(out[1].status, Status::kTimeout);
  EXPECT_EQ(out[2].status, Status::kTimeout);
  EXPECT_EQ(out[2].file, "gn3.partial.tar.zst");
  EXPECT_EQ(file("gn3.partial.tar.zst"), "half\n");
  EXPECT_EQ(out[3].detail, "no route to host");
  EXPECT_EQ(out[4].status, Status::kRefused);
  EXPECT_EQ(out[5].detail, "ended with status 137");
  EXPECT_EQ(out[6].status, Status::kFailed);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2) << "nothing is left of hosts that gave nothing";
}

TEST_F(Remote, what_is_there_is_not_asked_again) {
  std::ofstream(folder_ / "gn1.tar.zst") << "before";
  const auto out = collect_remote({host("gn1", "echo again")}, options_);
  EXPECT_EQ(out[0].status, Status::kTaken);
  EXPECT_EQ(file("gn1.tar.zst"), "before");
}

TEST_F(Remote, no_more_than_allowed_run_at_once_and_all_are_counted) {
  options_.parallel = 3;
  std::vector<Target> targets;
  for (int i = 0; i < 12; ++i) targets.push_back(host("gn" + std::to_string(i), "cat >/dev/null; echo x"));
  std::size_t told = 0;
  options_.progress = [&](const HostOutcome&, std::size_t done, std::size_t all) {
    EXPECT_EQ(done, ++told);
    EXPECT_EQ(all, 12U);
  };
  for (const auto& o : collect_remote(targets, options_)) EXPECT_EQ(o.status, Status::kTaken);
  EXPECT_EQ(told, 12U);
}

TEST_F(Remote, an_endless_archive_is_cut) {
  options_.max_bytes = 1'000'000;
  const auto out = collect_remote({host("gn1", "cat /dev/zero")}, options_);
  EXPECT_EQ(out[0].status, Status::kCut);
  EXPECT_LE(fs::file_size(folder_ / "gn1.partial.tar.zst"), 1'000'000U);
}

TEST(Transport, hosts_are_names_and_never_options) {
  const auto hosts = parse_hosts("gn1\n# comment\n gn2 slots=8\ngn3:8\ngn1\n\n");
  ASSERT_TRUE(hosts.has_value());
  EXPECT_EQ(*hosts, (std::vector<std::string>{"gn1", "gn2", "gn3"}));
  EXPECT_FALSE(parse_hosts("-oProxyCommand=x").has_value());
  EXPECT_FALSE(parse_hosts("gn1;reboot").has_value());
  EXPECT_FALSE(parse_hosts("\n#\n").has_value());
}

TEST(Transport, the_script_survives_any_login_shell) {
  const auto script = remote_script({"collect", "--local", "--deadline=5s", "rm;x"});
  EXPECT_EQ(script.find('\''), std::string::npos);
  EXPECT_EQ(script.find('\n'), std::string::npos);
  EXPECT_EQ(script.find('!'), std::string::npos);
  EXPECT_EQ(script.find("rm;x"), std::string::npos);
  EXPECT_TRUE(script.ends_with("\"$d/holter\" collect --local --deadline=5s </dev/null"));
}

}  // namespace
}  // namespace holter::collect
