// SPDX-License-Identifier: Apache-2.0
#include "report/sample_report.h"

#include <fmt/format.h>

#include "report/each_text.h"

namespace holter::report::testing {

using namespace model;

namespace {

constexpr std::int64_t kStart = 1'772'333'467'000'000'000;  // 2026-03-01T02:51:07Z
constexpr std::int64_t kMs = 1'000'000;

std::string node_of(std::int32_t rank) { return fmt::format("gpu{}", rank / 8); }

Citation cite(std::string id, std::string source, std::uint64_t line, std::string text, std::string why) {
  Citation c;
  c.id = std::move(id);
  c.at = {FileId{0}, PosKind::kLine, line};
  c.source = std::move(source);
  c.context_first = line > 2 ? line - 2 : 1;
  for (std::uint64_t l = c.context_first; l < line; ++l)
    c.context.push_back(fmt::format("    a line before, number {}", l));
  c.context.push_back(text);
  c.context.emplace_back("    the line after it");
  c.text = std::move(text);
  c.why = std::move(why);
  return c;
}

void findings(Report& r, std::int32_t stuck) {
  const std::string node = node_of(stuck);
  Finding root;
  root.id = "F1";
  root.cause = "storage_hang";
  root.title = fmt::format(
      "rank {} on {} has been reading /data/shard-0231.bin since 02:51:07 and its NFS server does not answer", stuck,
      node);
  root.role = Role::kRoot;
  root.certainty = Certainty::kLikely;
  root.confidence = 0.83;
  root.severity = Severity::kDegraded;
  root.owner = Owner::kStorage;
  root.kind = VerdictKind::kHang;
  root.restart = Restart::kAfterEvidence;
  root.culprits = {{CulpritKind::kRank, stuck, node, "3", "", ""},
                   {CulpritKind::kNode, std::nullopt, node, "", "", ""}};
  root.explains = {"F2"};
  root.evidence = {
      cite("E1", fmt::format("stacks/rank{}.pyspy.txt", stuck), 12, "    read (trainlib/dataset.py:88)",
           "the innermost frame is a file read"),
      cite("E2", fmt::format("nodes/{}.dmesg", node), 4102, "nfs: server 10.20.0.9 not responding, still trying",
           "the server of the mount went away 4 s earlier"),
      cite("E3", "logs/rank0.log", 8841,
           "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=90211, OpType=ALLREDUCE)",
           "the others wait in the next all_reduce")};
  root.evidence[2].at.kind = PosKind::kRecord;
  root.against = {cite("E4", fmt::format("nodes/{}.dmesg", node), 4410, "nfs: server 10.20.0.9 OK",
                       "the server answered once in between")};
  root.actions = {{"Save the state of the mount, then restart the NFS client",
                   fmt::format("holter collect --hosts {} --only nfs", node), Risk::kNone},
                  {"Restart the job without this node",
                   fmt::format("scontrol update nodename={} state=drain reason=nfs", node), Risk::kDisruptive}};
  root.needs = {"nfsstat of the server around 02:51"};
  root.exclude_nodes = {node};
  Finding second;
  second.id = "F2";
  second.cause = "first_failure_elsewhere";
  second.title = "the watchdog of 3 ranks reports a timeout of all_reduce #90211";
  second.role = Role::kSecondary;
  second.certainty = Certainty::kConfirmed;
  second.confidence = 0.9;
  second.severity = Severity::kInfo;
  second.kind = VerdictKind::kHang;
  second.evidence = {cite("E5", "logs/rank0.log", 8841, "Watchdog caught collective operation timeout",
                          "a consequence: it waits for the others")};
  r.findings = {root, second};
  r.ruled_out = {{"nic_link_flap", "all 64 ports stayed up", {cite("E6", "nodes/ports.txt", 3, "64 up, 0 down", "")}},
                 {"gpu_fell_off_bus", "no Xid on any node", {}}};
}

void job(Report& r, std::int32_t ranks) {
  r.job.ranks_expected = ranks;
  r.job.missing_ranks = RankSet{1, ranks - 1};
  r.job.ranks_seen = RankSet::range(0, ranks - 1) - r.job.missing_ranks;
  for (std::int32_t rank = 0; rank < ranks; rank += 8) r.job.nodes.push_back(node_of(rank));
  GroupSummary world{"0 default_pg", {}, fmt::format("completed 90210, {} of {} entered 90211", ranks - 1, ranks)};
  GroupSummary first{"1 data_parallel_0", {}, "completed 512"};
  for (std::int32_t rank = 0; rank < ranks; ++rank) world.ranks.push_back(rank);
  for (std::int32_t rank = 0; rank < 8; ++rank) first.ranks.push_back(rank);
  r.job.groups = {world, first};
}

void calls(Report& r, std::int32_t ranks, std::int32_t stuck, std::int32_t count) {
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    if (r.job.missing_ranks.contains(rank)) continue;
    for (std::int32_t k = 0; k < count; ++k) {
      const bool last = k == count - 1;
      if (last && rank == stuck) continue;
      const std::int64_t start = kStart + (k - count) * 400 * kMs + rank % 7 * kMs;
      CallSpan c{rank,
                 "0 default_pg",
                 k % 3 == 0 ? "all_gather" : "all_reduce",
                 90212 - count + k,
                 start,
                 last ? 0 : start + 150 * kMs,
                 last ? "started" : "completed"};
      r.calls.push_back(c);
    }
  }
}

void stacks(Report& r, std::int32_t ranks, std::int32_t stuck) {
  const RankSet all = r.job.ranks_seen, minority{stuck}, rest = all - minority;
  const auto n = static_cast<std::uint32_t>(all.size()), m = static_cast<std::uint32_t>(rest.size());
  const RankSet early = RankSet::range(0, ranks / 2) & rest, late = rest - early;
  r.stacks.nodes = {{"all", all, n, {1}},
                    {"main (train.py:210)", all, n, {2}},
                    {"train_step (train.py:151)", all, n, {3, 5}, true},
                    {"next_batch (trainlib/loader.py:40)", minority, 1, {4}, false, true},
                    {"read (trainlib/dataset.py:88)", minority, 1, {}, false, true},
                    {"backward (torch/autograd/__init__.py:251)", rest, m, {6}},
                    {"all_reduce (torch/distributed/distributed_c10d.py:2501)", rest, m, {7, 8}},
                    {"cudaStreamSynchronize (libcudart.so.12)", early, static_cast<std::uint32_t>(early.size()), {}},
                    {"poll (libc.so.6)", late, static_cast<std::uint32_t>(late.size()), {}}};
  r.stacks.fork_text = fmt::format("rank {} is in next_batch while {} ranks are in backward", stuck, m);
}

void topology(Report& r, std::int32_t ranks, std::int32_t stuck) {
  Topology t{"0 default_pg", r.job.groups[0].ranks, {}};
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    t.edges.push_back({rank, (rank + 1) % ranks, "ring", 0, rank % 8 == 7 ? "NET/IB/0" : "P2P/CUMEM", rank == stuck});
  for (std::int32_t rank = 1; rank < ranks; ++rank)
    t.edges.push_back({rank, (rank - 1) / 2, "tree", 0, "NET/IB/0", false});
  r.topology = {t};
}

}  // namespace

Report hang(std::int32_t ranks, std::int32_t calls_per_rank) {
  const std::int32_t stuck = ranks * 2 / 5 + 1;
  Report r;
  r.tool_version = "0.1.0";
  r.created_ns = kStart + 200'000 * kMs;
  job(r, ranks);
  findings(r, stuck);
  r.verdict = {VerdictKind::kHang, Certainty::kLikely,
               r.findings[0].title + fmt::format("; {} ranks wait for it", ranks - 3)};
  r.decision = {Restart::kAfterEvidence,
                {node_of(stuck)},
                "/ckpt/step-90000",
                "the mount must answer first",
                kStart + 600'000 * kMs};
  r.owner = Owner::kStorage;
  r.impact = {ranks, ranks * 200 / 3600.0, {"pretrain-7"}, r.job.ranks_seen - RankSet{stuck}};
  r.evidence.files = {{.path = "logs/rank0.log",
                       .format = "text",
                       .version = "1",
                       .status = FileStatus::kRead,
                       .bytes = 812'331,
                       .modified_ns = kStart,
                       .counts = {{"lines", 9012}, {"events", 14}},
                       .lines = 9012},
                      {.path = fmt::format("nodes/{}.dmesg", node_of(stuck)),
                       .format = "kernel",
                       .status = FileStatus::kPartial,
                       .bytes = 90'112,
                       .counts = {{"lines", 4500}}},
                      {.path = "core.bin", .status = FileStatus::kUnread, .bytes = 1 << 30}};
  r.evidence.gaps = {"ranks 1 and the last one left no evidence", "no GPU metrics: cannot tell busy from idle"};
  r.evidence.problems = {{{FileId{1}, PosKind::kLine, 4412}, "line is longer than 1 MiB", 3}};
  r.evidence.coverage = {{"log lines", 1810.5}, {"collectives", 0.4 * calls_per_rank}};
  r.timeline = {{kStart - 4'000 * kMs, 50 * kMs, "NFS server stops answering", node_of(stuck), "E2"},
                {kStart, 2 * kMs, "last file read begins", fmt::format("rank {}", stuck), "E1"}};
  calls(r, ranks, stuck, calls_per_rank);
  r.ranks_without_calls = RankSet::range(ranks, ranks + 7);
  r.waits = {{r.job.ranks_seen - RankSet{stuck}, RankSet{stuck}, "0 default_pg", "all_reduce", 90211, true}};
  stacks(r, ranks, stuck);
  topology(r, ranks, stuck);
  return r;
}

Report poisoned(const std::string& poison) {
  Report r = hang(16);
  each_text(r, [&](std::string& text) { text += poison; });
  return r;
}

}  // namespace holter::report::testing
