// SPDX-License-Identifier: Apache-2.0
#include "formats/text/wrapping.h"

#include <gtest/gtest.h>

#include "formats/text/timestamps.h"

namespace holter::formats::text {
namespace {

struct Unwrapped {
  std::string body, node;
  std::int32_t rank = -1, pid = -1, repeats = 1;
  model::Timestamp time;
};

Unwrapped unwrap(std::string_view raw, std::string_view head = {}, std::int32_t file_rank = -1) {
  model::Evidence out;
  model::SourceFile file;
  file.name_rank = model::GlobalRank{file_rank};
  Unwrapper unwrapper(file, out);
  unwrapper.learn(head.empty() ? raw : head);
  Line line;
  line.raw = raw;
  unwrapper.unwrap(line);
  return {
      std::string(line.body), std::string(out.text(line.node)), value(line.rank), line.pid, line.repeats, line.time};
}

constexpr std::int64_t kMayNs = 1'779'089'462'000'000'000;  // 2026-05-18 07:31:02 UTC

TEST(Wrapping, launchers) {
  EXPECT_EQ(unwrap("[rank3]: Traceback (most recent call last):").body, "Traceback (most recent call last):");
  EXPECT_EQ(unwrap("[rank3]: x y").rank, 3);
  EXPECT_EQ(unwrap("[rank1] > waiting").body, "> waiting");
  EXPECT_EQ(unwrap("[rank4]:   File \"a.py\", line 1, in f").body, "  File \"a.py\", line 1, in f");
  const auto nested = unwrap("[default3]:[rank11]: boom");
  EXPECT_EQ(nested.rank, 11);
  EXPECT_EQ(nested.body, "boom");
  EXPECT_EQ(unwrap("[1,5]<stderr>:boom").rank, 5);
  EXPECT_EQ(unwrap("[pod/trainer-7/main] boom").node, "trainer-7");
}

TEST(Wrapping, the_group_rank_is_not_a_rank) {
  const auto u = unwrap("[E0522 03:14:01.36 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog", {}, 5);
  EXPECT_EQ(u.rank, 5);
  EXPECT_EQ(u.body, "[E0522 03:14:01.36 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog");
  EXPECT_EQ(u.time.kind, model::TimeKind::kNoYear);
}

TEST(Wrapping, numbered_and_named_lines_only_where_most_lines_are) {
  EXPECT_EQ(unwrap("3: boom", "0: a b\n3: boom\n12: c\n").rank, 3);
  EXPECT_EQ(unwrap("3: boom", "a\nb\n3: boom\nc\n").rank, -1);
  EXPECT_EQ(unwrap("gn7: boom", "gn7: boom\ngn8: a\n").node, "gn7");
  EXPECT_EQ(unwrap("gn7: boom", "a\nb\ngn7: boom\n").node, "");
  EXPECT_EQ(unwrap("RuntimeError: boom").body, "RuntimeError: boom");
  EXPECT_EQ(unwrap("mlx5_0: up").node, "");
}

TEST(Wrapping, tasks_that_launch_several_ranks_are_no_ranks) {
  const std::string_view head = "0: [rank5]: a\n1: [rank9]: b\n1: plain\n";
  EXPECT_EQ(unwrap("1: plain", head).rank, -1);
  EXPECT_EQ(unwrap("1: [rank9]: b", head).rank, 9);
}

TEST(Wrapping, containers_and_json) {
  const auto cri = unwrap("2026-05-18T07:31:02.000000000Z stderr F [rank2]: boom");
  EXPECT_EQ(cri.body, "boom");
  EXPECT_EQ(cri.rank, 2);
  EXPECT_EQ(cri.time.ns, kMayNs);
  const auto docker = unwrap(R"({"log":"[rank2]: boom\n","stream":"stderr","time":"2026-05-18T07:31:02Z"})");
  EXPECT_EQ(docker.body, "boom");
  EXPECT_EQ(docker.rank, 2);
  EXPECT_EQ(docker.time.ns, kMayNs);
  const auto logger =
      unwrap(R"({"ts":1779089462.0,"level":"error","rank":4,"message":"boom","kubernetes":{"host":"n4"}})");
  EXPECT_EQ(logger.body, "boom");
  EXPECT_EQ(logger.rank, 4);
  EXPECT_EQ(logger.node, "n4");
  EXPECT_EQ(logger.time.ns, kMayNs);
  EXPECT_EQ(unwrap(R"({"step": 3, "loss": 2.1})").body, R"({"step": 3, "loss": 2.1})");
}

TEST(Wrapping, actors) {
  const auto ray = unwrap(
      "(TrainActor pid=9133, ip=10.4.9.2) [rank9]:[E416 13:21:17.503 P.cpp:1] boom [repeated 6x across cluster]");
  EXPECT_EQ(ray.pid, 9133);
  EXPECT_EQ(ray.node, "10.4.9.2");
  EXPECT_EQ(ray.rank, 9);
  EXPECT_EQ(ray.repeats, 6);
  EXPECT_EQ(ray.body, "[E416 13:21:17.503 P.cpp:1] boom");
  EXPECT_EQ(unwrap("(Worker_TP0 pid=71) INFO 05-18 07:31:02 [m.py:1] x").pid, 71);
  EXPECT_EQ(unwrap("(see below) boom").body, "(see below) boom");
}

TEST(Wrapping, system_logs) {
  const auto syslog = unwrap("May 18 07:31:02 gn7 kernel: [ 1234.567890] NVRM: Xid");
  EXPECT_EQ(syslog.body, "NVRM: Xid");
  EXPECT_EQ(syslog.node, "gn7");
  EXPECT_EQ(syslog.time.kind, model::TimeKind::kNoYear);
  const auto journal = unwrap("2026-05-18T07:31:02+0000 gn7 slurmd[321]: error: x");
  EXPECT_EQ(journal.body, "slurmd[321]: error: x");
  EXPECT_EQ(journal.node, "gn7");
  EXPECT_EQ(journal.time.ns, kMayNs);
  EXPECT_EQ(unwrap("[ 1234.567890] NVRM: Xid").time.kind, model::TimeKind::kMonotonic);
  EXPECT_EQ(unwrap("[Mon May 18 07:31:02 2026] NVRM: Xid").body, "NVRM: Xid");
}

TEST(Wrapping, colours_progress_bars_and_holes) {
  EXPECT_EQ(unwrap("\x1b[36m(A pid=7)\x1b[0m \x1b[1;31mboom\x1b[0m").body, "boom");
  EXPECT_EQ(unwrap(" 1%|# | 1/9\r 2%|# | 2/9").body, " 2%|# | 2/9");
  EXPECT_EQ(unwrap(std::string_view("\0\0\0boom now", 11)).body, "boom now");
  EXPECT_EQ(unwrap("").body, "");
}

}  // namespace
}  // namespace holter::formats::text
