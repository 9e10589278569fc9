// SPDX-License-Identifier: Apache-2.0
#include "evidence/clocks.h"

#include <gtest/gtest.h>

#include <random>

namespace holter::evidence {
namespace {

using model::Clock;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000 * kMs;
constexpr std::int64_t kStart = 1'770'000'000 * kSecond;

model::Rules rules() {
  model::Rules out;
  out.tables["collectives.csv"] = {
      {"op", "family", "in_must_match", "out_must_match", "leaves_early", "note"},
      {{"all_reduce", "all_reduce", "yes", "yes", "none", ""}, {"broadcast", "broadcast", "yes", "yes", "root", ""}}};
  return out;
}

// A job whose ranks write what they see with the clock of their host.
class Job {
 public:
  model::Evidence ev;

  // A host and a dump of its rank; `skew` is what its clock shows too much.
  Job& dump(std::int32_t rank, const std::string& node, std::int64_t skew, int calls = 40,
            const std::string& op = "all_reduce", std::int64_t jitter = 90 * kMs) {
    ev.files.push_back({.path = node + ".dump"});
    if (!node.empty()) ev.files.back().name_node = ev.intern(node);
    model::FrDump d;
    d.file = static_cast<model::FileId>(ev.files.size() - 1);
    d.rank = model::GlobalRank{rank};
    d.first_entry = ev.entries.size();
    d.groups.push_back({ev.intern("0"), ev.intern("default_pg"), ev.intern_rank_list("[0, 1, 2, 3]")});
    std::uniform_int_distribution<std::int64_t> noise(0, jitter);
    for (int k = 0; k < calls; ++k) {
      model::FrEntry e;
      e.collective_seq = k;
      e.record_id = k;
      e.op = ev.intern(op);
      e.group_name = ev.intern("0");
      e.group_desc = ev.intern("default_pg");
      e.state = model::OpState::kCompleted;
      e.created_ns = kStart + k * kSecond + skew;
      e.completed_ns = e.created_ns + 500 * kMs + noise(random_);
      ev.entries.push_back(e);
    }
    d.entry_count = static_cast<std::size_t>(calls);
    ev.dumps.push_back(d);
    return *this;
  }
  std::uint32_t log(const std::string& node, std::int32_t rank = -1) {
    ev.files.push_back({.path = node + ".log"});
    if (!node.empty()) ev.files.back().name_node = ev.intern(node);
    if (rank >= 0) ev.files.back().name_rank = model::GlobalRank{rank};
    return static_cast<std::uint32_t>(ev.files.size() - 1);
  }
  // A line that the clock of the host dates at `printed`.
  Job& line(std::uint32_t file, std::int64_t printed, const std::string& kind = "traceback",
            const std::string& text = "x") {
    model::Event e;
    e.kind = ev.intern(kind);
    e.text = ev.intern(text);
    e.time = {printed, model::TimeKind::kUnix};
    e.node = ev.files[file].name_node;
    e.rank = ev.files[file].name_rank;
    e.at = {model::FileId{file}, model::PosKind::kLine, ++lines_};
    ev.events.push_back(e);
    return *this;
  }
  Job& timeout(std::uint32_t file, std::int64_t printed, std::int64_t seq, std::int64_t ran_ms = 600'000) {
    model::WatchdogRecord w;
    w.time = {printed, model::TimeKind::kNoYear};
    w.rank = ev.files[file].name_rank;
    w.node = ev.files[file].name_node;
    w.op = ev.intern("ALLREDUCE");
    w.seq = seq;
    w.ran_ms = ran_ms;
    w.timeout_ms = 600'000;
    w.at = {model::FileId{file}, model::PosKind::kLine, ++lines_};
    ev.watchdog.push_back(w);
    return *this;
  }
  Job& align() {
    align_clocks(ev, rules());
    return *this;
  }
  const Clock& of_dump(std::size_t i) const { return ev.clocks[ev.dumps[i].clock]; }
  const Clock& of_line(std::size_t i) const { return ev.clocks[ev.events[i].time.clock]; }
  // The order of two lines as the clocks let it be told: -1, 0 (not known), 1.
  int order(std::size_t a, std::size_t b) const {
    const auto margin = model::uncertainty_ns(of_line(a), of_line(b));
    const auto apart = ev.events[b].time.job_ns() - ev.events[a].time.job_ns();
    return apart > margin ? -1 : apart < -margin ? 1 : 0;
  }

 private:
  std::mt19937_64 random_{7};
  std::uint64_t lines_ = 0;
};

class Skews : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(Skews, are_found_within_the_error_they_state) {
  Job job;
  job.dump(0, "n0", 0).dump(1, "n1", GetParam()).dump(2, "n2", 0).align();
  const auto found = job.of_dump(1).offset_ns - job.of_dump(0).offset_ns;
  const auto error = job.of_dump(1).error_ns + job.of_dump(0).error_ns;
  EXPECT_LE(std::abs(found - GetParam()), error);
  EXPECT_LE(error, 200 * kMs);
  EXPECT_GT(job.of_dump(1).shared, 30U);
  EXPECT_EQ(job.of_dump(1).set, job.of_dump(2).set);
}

// The order of two lines of different hosts survives any skew; the naive one does not.
TEST_P(Skews, do_not_change_the_order_of_lines) {
  Job job;
  job.dump(0, "n0", 0).dump(1, "n1", GetParam()).dump(2, "n2", 0);
  const auto a = job.log("n0"), b = job.log("n1");
  job.line(a, kStart + 50 * kSecond).line(b, kStart + 52 * kSecond + GetParam()).align();
  EXPECT_EQ(job.order(0, 1), -1);
}

INSTANTIATE_TEST_SUITE_P(Clocks, Skews,
                         ::testing::Values(0, 2 * kMs, -40 * kMs, 700 * kMs, -5 * kSecond, 61 * kSecond, -900 * kSecond,
                                           3'600 * kSecond, -7 * 3'600 * kSecond, 11 * 3'600 * kSecond + 17 * kSecond));

TEST(Clocks, most_hosts_are_right) {
  Job job;
  job.dump(0, "n0", 90 * kSecond).dump(1, "n1", 0).dump(2, "n2", 0).dump(3, "n3", 0).align();
  EXPECT_NEAR(static_cast<double>(job.of_dump(0).offset_ns), 90e9, 0.1e9);
  for (const int i : {1, 2, 3}) EXPECT_LT(std::abs(job.of_dump(static_cast<std::size_t>(i)).offset_ns), 100 * kMs);
}

TEST(Clocks, closer_than_the_error_is_no_order) {
  Job job;
  job.dump(0, "n0", 0).dump(1, "n1", 30 * kSecond);
  const auto a = job.log("n0"), b = job.log("n1");
  job.line(a, kStart + 50 * kSecond).line(b, kStart + 80 * kSecond + 20 * kMs).align();
  EXPECT_EQ(job.order(0, 1), 0);
}

TEST(Clocks, hosts_that_share_nothing_compare_beyond_a_second) {
  Job job;
  const auto a = job.log("n0"), b = job.log("n1");
  job.line(a, kStart).line(b, kStart + 900 * kMs).line(b, kStart + 1'100 * kMs).align();
  EXPECT_EQ(job.of_line(0).set, 0U);
  EXPECT_EQ(job.order(0, 1), 0);
  EXPECT_EQ(job.order(0, 2), -1);
  EXPECT_EQ(job.order(1, 2), -1);  // one host
}

TEST(Clocks, one_host_or_none_named_always_compares) {
  for (const std::string node : {"n0", ""}) {
    Job job;
    const auto a = job.log(node, 0), b = job.log("", 1);
    job.line(a, kStart).line(b, kStart + kMs).align();
    EXPECT_EQ(job.order(0, 1), -1) << node;
  }
}

// The root of a broadcast leaves before the others: its end is no shared event.
TEST(Clocks, only_collectives_that_all_leave_together_count) {
  Job job;
  job.dump(0, "n0", 0, 40, "broadcast").dump(1, "n1", kSecond, 40, "broadcast").align();
  EXPECT_EQ(job.of_dump(0).set, 0U);
}

TEST(Clocks, events_without_a_constant_distance_are_no_measure) {
  Job job;
  job.dump(0, "n0", 0, 40, "all_reduce", 0).dump(1, "n1", 0, 40, "all_reduce", 900 * kSecond).align();
  EXPECT_EQ(job.of_dump(1).set, 0U);
}

TEST(Clocks, dumps_of_two_attempts_are_not_compared) {
  Job job;
  job.dump(0, "n0", 0).dump(1, "n1", 5'000 * kSecond);
  job.ev.files[0].name_attempt = 0;
  job.ev.files[1].name_attempt = 1;
  EXPECT_EQ(job.align().of_dump(1).set, 0U);
}

TEST(Clocks, few_events_are_trusted_less) {
  Job job;
  job.dump(0, "n0", 0, 1, "all_reduce", 0).dump(1, "n1", 20 * kSecond, 1, "all_reduce", 0).align();
  EXPECT_EQ(job.of_dump(1).offset_ns - job.of_dump(0).offset_ns, 20 * kSecond);
  EXPECT_GE(job.of_dump(1).error_ns + job.of_dump(0).error_ns, 100 * kMs);
}

TEST(Clocks, a_timeout_line_and_its_call_tell_the_zone_of_a_log) {
  constexpr std::int64_t kZone = -7 * 3'600 * kSecond;
  Job job;
  job.dump(0, "n0", 0).dump(1, "n1", 0);
  const auto local = job.log("n0", 0), utc = job.log("n1", 1), kernel = job.log("n0");
  job.timeout(local, kStart + 10 * kSecond + kZone + 600 * kSecond, 10).timeout(utc, kStart + 610 * kSecond, 10);
  job.line(local, kStart + 700 * kSecond + kZone)
      .line(utc, kStart + 60 * kSecond)
      .line(kernel, kStart + 3'600 * kSecond);
  job.align();
  EXPECT_EQ(job.of_line(0).zone_ns, kZone);
  EXPECT_EQ(job.of_line(1).zone_ns, 0);
  EXPECT_EQ(job.order(1, 0), -1);
  EXPECT_EQ(job.order(1, 2), 0);  // the zone of that file is not known
}

TEST(Clocks, an_odd_distance_of_a_timeout_from_its_call_is_no_zone) {
  Job job;
  job.dump(0, "n0", 0);
  const auto file = job.log("n0", 0);
  job.timeout(file, kStart + 610 * kSecond + 401 * kSecond, 10).line(file, kStart).align();
  EXPECT_EQ(job.of_line(0).zone_ns, 0);
}

// Each rank counts from its own call: minutes apart mean nothing, hours do.
TEST(Clocks, timeouts_of_one_call_find_hours_only) {
  for (const auto& [skew, is_found] : {std::pair{300 * kSecond, false}, std::pair{2 * 3'600 * kSecond, true}}) {
    Job job;
    const auto a = job.log("n0", 0), b = job.log("n1", 1), c = job.log("n2", 2);
    job.timeout(a, kStart, 10).timeout(b, kStart + skew, 10).timeout(c, kStart + kSecond, 10);
    job.line(a, kStart).line(b, kStart).align();
    EXPECT_EQ(job.of_line(1).offset_ns, is_found ? skew : 0);
    EXPECT_EQ(job.of_line(1).zone_ns, is_found ? skew : 0);
    EXPECT_LE(job.of_line(1).error_ns, model::kUnalignedNs);
  }
}

TEST(Clocks, a_dump_signal_is_seen_by_all_ranks_at_once) {
  Job job;
  const auto a = job.log("n0", 0), b = job.log("n1", 1), c = job.log("n2", 2);
  const std::string text = "Received a dump signal due to a collective timeout from rank 3";
  job.line(a, kStart, "watchdog.dump", text).line(b, kStart + 100 * kSecond, "watchdog.dump", text);
  job.line(c, kStart + kSecond, "watchdog.dump", text).align();
  EXPECT_NEAR(static_cast<double>(job.of_line(1).offset_ns), 100e9, 5e9);
  EXPECT_EQ(job.of_line(2).offset_ns, 0);
}

TEST(Clocks, the_end_of_init_is_shared_by_a_communicator) {
  Job job;
  const auto a = job.log("n0"), b = job.log("n1"), c = job.log("n2");
  for (const auto& [file, ns] : {std::pair{a, kStart}, std::pair{b, kStart + 30 * kSecond}, std::pair{c, kStart}}) {
    model::NcclComm comm;
    comm.at = {model::FileId{file}, model::PosKind::kLine, 1};
    comm.host = job.ev.files[file].name_node;
    comm.comm_id = job.ev.intern("0xabc");
    comm.complete = {ns, model::TimeKind::kUnix};
    job.ev.nccl.comms.push_back(comm);
  }
  job.align();
  EXPECT_EQ(job.ev.nccl.comms[1].complete.job_ns(), kStart);
}

TEST(Clocks, times_out_of_any_range_are_survived) {
  Job job;
  job.dump(0, "n0", 0, 3).dump(1, "n1", 0, 3);
  job.ev.entries[0].completed_ns = INT64_MAX;
  job.ev.entries[3].completed_ns = 1;
  job.ev.entries[4].completed_ns = INT64_MIN;
  const auto file = job.log("n0", 0);
  job.timeout(file, INT64_MAX, 1, INT64_MAX / 2).timeout(file, 1, 2, INT64_MAX).line(file, INT64_MAX).align();
  EXPECT_EQ(job.ev.clocks.size(), 4U);
}

TEST(Clocks, equal_evidence_gives_equal_clocks) {
  const auto make = [] {
    Job job;
    job.dump(0, "n0", 0).dump(1, "n1", 3 * kSecond).dump(2, "", 0).dump(3, "", -9 * kSecond).align();
    return job;
  };
  const auto a = make(), b = make();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(a.of_dump(i).offset_ns, b.of_dump(i).offset_ns);
}

}  // namespace
}  // namespace holter::evidence
