// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "formats/rules/rules.h"
#include "hang/testing.h"
#include "report/export.h"
#include "report/share.h"

namespace holter::report {
namespace {

using rapidjson::Document;
using rapidjson::Value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStart = 1'772'333'467'000 * kMs;
constexpr std::string_view kHostile = "a;b\n\"</script>\xff\x1b[31m \xE2\x80\xAE\\";

// Two ranks; each test adds calls, lines and stacks.
class Maker : public hang::testing::JobMaker {
 public:
  Maker() { group("0", "[0, 1]"); }

  Maker& dump(std::int32_t rank) {
    JobMaker::dump(rank);
    return *this;
  }
  Maker& timed(std::int64_t seq, std::int64_t start_ms, std::int64_t end_ms, const std::string& op = "all_reduce") {
    call("0", seq, op, 8, end_ms >= 0);
    auto& e = ev.entries.back();
    e.created_ns = kStart + start_ms * kMs;
    e.started_ns = e.created_ns;
    e.completed_ns = end_ms >= 0 ? kStart + end_ms * kMs : 0;
    return *this;
  }
  Maker& line(const std::string& kind, std::int64_t ms, const std::string& text, std::int32_t rank = -1,
              const std::string& node = "") {
    if (ev.files.empty()) ev.files.push_back({.path = "x.log"});
    model::Event e;
    e.kind = ev.intern(kind);
    e.text = ev.intern(text);
    e.time = {kStart + ms * kMs, model::TimeKind::kUnix};
    e.rank = model::GlobalRank{rank};
    e.node = ev.intern(node);
    e.at = {model::FileId{0}, model::PosKind::kLine, 7};
    ev.events.push_back(e);
    return *this;
  }
  Maker& stack(std::int32_t rank, const std::vector<std::string>& functions, const std::string& file = "train.py") {
    if (ev.files.empty()) ev.files.push_back({.path = "x.txt"});
    model::StackSample s;
    s.at = {model::FileId{0}, model::PosKind::kLine, 1};
    s.rank = model::GlobalRank{rank};
    s.pid = 100 + rank;
    s.role = model::ThreadRole::kMain;
    for (const auto& f : functions) s.frames.push_back({ev.intern(f), ev.intern(file), 3, model::FrameKind::kPython});
    ev.stacks.push_back(s);
    return *this;
  }
};

struct Written {
  Exported counts;
  std::string text;
  std::size_t largest = 0;  // piece
};
using Exporter = Exported (*)(const ExportInput&, const Sink&);

Written write(Exporter exporter, const model::Evidence& ev, const model::Report& report = {},
              std::function<std::string(std::string_view)> show = {}) {
  static const model::Rules rules = formats::rules::builtin();
  Written out;
  out.counts = exporter({ev, rules, report, std::move(show)}, [&](std::string_view piece) {
    out.text += piece;
    out.largest = std::max(out.largest, piece.size());
  });
  return out;
}

Document parse(const std::string& text) {
  Document d;
  d.Parse<rapidjson::kParseValidateEncodingFlag>(text.data(), text.size());
  EXPECT_FALSE(d.HasParseError()) << text.substr(0, 300);
  return d;
}

std::vector<const Value*> events(const Document& d, std::string_view phase) {
  std::vector<const Value*> out;
  for (const auto& e : d["traceEvents"].GetArray()) {
    if (e["ph"].GetString() == phase) out.push_back(&e);
  }
  return out;
}

TEST(ExportTrace, times_are_microseconds_after_the_earliest) {
  Maker m;
  m.dump(0).timed(1, 10, 15).timed(2, 20, 26);
  m.dump(1).timed(1, 12, 15).timed(2, 21, 26);
  const auto d = parse(write(to_perfetto, m.ev).text);
  const auto calls = events(d, "X");
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_DOUBLE_EQ((*calls[0])["ts"].GetDouble(), 0);
  EXPECT_DOUBLE_EQ((*calls[0])["dur"].GetDouble(), 5000);
  EXPECT_DOUBLE_EQ((*calls[2])["ts"].GetDouble(), 2000);
  EXPECT_STREQ((*calls[1])["args"]["evidence"].GetString(), "dump_0 record 1");
  EXPECT_EQ((*calls[1])["args"]["seq"].GetInt(), 2);
  EXPECT_NE((*calls[0])["pid"].GetInt(), (*calls[2])["pid"].GetInt());
  EXPECT_TRUE(events(d, "B").empty());
}

TEST(ExportTrace, a_call_without_an_end_stays_open_and_says_so) {
  Maker m;
  m.dump(0).timed(1, 10, 15).timed(2, 20, -1);
  m.dump(1).timed(1, 12, 15);
  const auto written = write(to_perfetto, m.ev);
  const auto d = parse(written.text);
  EXPECT_EQ(written.counts.unfinished, 1U);
  ASSERT_EQ(events(d, "B").size(), 1U);
  const auto& open = *events(d, "B")[0];
  EXPECT_THAT(open["name"].GetString(), HasSubstr("unfinished"));
  EXPECT_TRUE(open["args"]["unfinished"].GetBool());
  EXPECT_FALSE(open.HasMember("dur"));
  EXPECT_EQ(events(d, "X").size(), 2U);
}

// Slices of one thread nest or follow each other: what overlaps is on another thread of the group.
TEST(ExportTrace, calls_that_overlap_get_their_own_lane) {
  Maker m;
  m.dump(0);
  for (int i = 0; i < 200; ++i) m.timed(i, i * 10, i * 10 + 25);
  const auto d = parse(write(to_perfetto, m.ev).text);
  std::map<int, double> until;
  for (const auto* e : events(d, "X")) {
    auto& end = until[(*e)["tid"].GetInt()];
    EXPECT_GE((*e)["ts"].GetDouble(), end);
    end = (*e)["ts"].GetDouble() + (*e)["dur"].GetDouble();
  }
  EXPECT_EQ(until.size(), 3U);
}

TEST(ExportTrace, more_open_calls_than_lanes_are_still_a_trace) {
  Maker m;
  m.dump(0);
  for (int i = 0; i < 300; ++i) m.timed(i, i, -1);
  const auto written = write(to_perfetto, m.ev);
  EXPECT_EQ(events(parse(written.text), "B").size(), 300U);
}

TEST(ExportTrace, flows_join_the_newest_collective_and_a_send_with_its_receive) {
  Maker m;
  m.dump(0).timed(1, 0, 1, "send 0->1").timed(2, 2, 3, "send 0->1").timed(8, 20, -1).timed(7, 10, 11);
  m.dump(1).timed(1, 0, 1, "recv 1<-0").timed(8, 19, -1).timed(7, 9, 11);
  const auto d = parse(write(to_perfetto, m.ev).text);
  const auto begins = events(d, "s"), ends = events(d, "f");
  ASSERT_EQ(begins.size(), 2U);
  ASSERT_EQ(ends.size(), 2U);
  std::map<int, std::pair<double, double>> flows;
  for (const auto* e : begins) flows[(*e)["id"].GetInt()].first = (*e)["ts"].GetDouble();
  for (const auto* e : ends) flows[(*e)["id"].GetInt()].second = (*e)["ts"].GetDouble();
  EXPECT_EQ(flows[1], std::pair(19000.0, 20000.0));
  EXPECT_EQ(flows[2], std::pair(0.0, 0.0));
}

TEST(ExportTrace, a_send_whose_beginning_is_lost_is_joined_to_nothing) {
  Maker m;
  m.dump(0).timed(5, 0, 1, "send 0->1");
  m.ev.entries.back().record_id = 12;
  m.dump(1).timed(5, 0, 1, "recv 1<-0");
  EXPECT_TRUE(events(parse(write(to_perfetto, m.ev).text), "s").empty());
}

TEST(ExportTrace, lines_of_logs_and_kernel_and_the_first_failure_are_instants) {
  Maker m;
  m.dump(0).timed(1, 10, 15);
  m.line("kernel.xid", 5, "NVRM: Xid 79", -1, "gn7").line("traceback", 20, "Traceback", 1).line("log.first", 1, "x");
  model::WatchdogRecord w;
  w.time = {kStart + 30 * kMs, model::TimeKind::kNoYear};
  w.rank = model::GlobalRank{0};
  w.op = m.ev.intern("ALLREDUCE");
  w.seq = 88;
  m.ev.watchdog.push_back(w);
  model::Report report;
  report.findings.push_back({.cause = "gpu_fell_off_bus", .title = "lost", .first_ns = kStart + 5 * kMs});
  const auto written = write(to_perfetto, m.ev, report);
  const auto d = parse(written.text);
  EXPECT_EQ(written.counts.marks, 3U);
  const auto marks = events(d, "i");
  ASSERT_EQ(marks.size(), 4U);
  EXPECT_STREQ((*marks[0])["s"].GetString(), "g");
  EXPECT_DOUBLE_EQ((*marks[0])["ts"].GetDouble(), 0);
  EXPECT_THAT((*marks[1])["name"].GetString(), HasSubstr("ALLREDUCE #88"));
  EXPECT_STREQ((*marks[2])["args"]["evidence"].GetString(), "dump_0:7");
  std::vector<std::string> processes;
  for (const auto* e : events(d, "M")) {
    if ((*e)["name"] == "process_name") processes.push_back((*e)["args"]["name"].GetString());
  }
  EXPECT_THAT(processes, ElementsAre("rank 0", "rank 1", "job", "node gn7"));
}

TEST(ExportTrace, nothing_with_a_time_writes_nothing) {
  Maker m;
  m.dump(0).call("0", 1, "all_reduce");
  m.ev.entries.back().created_ns = 0;
  const auto written = write(to_perfetto, m.ev);
  EXPECT_EQ(written.text, "");
  EXPECT_EQ(written.counts.left_out, 1U);
}

TEST(ExportTrace, a_large_trace_leaves_in_small_pieces) {
  Maker m;
  m.dump(0);
  for (int i = 0; i < 20'000; ++i) m.timed(i, i, i + 1);
  const auto written = write(to_perfetto, m.ev);
  EXPECT_GT(written.text.size(), 4'000'000U);
  EXPECT_LT(written.largest, 100'000U);
}

TEST(Export, hostile_names_stay_text) {
  Maker m;
  const std::string hostile(kHostile);
  m.dump(0).timed(1, 10, -1, hostile);
  m.line(hostile, 5, hostile, -1, hostile).stack(0, {hostile, hostile}, hostile);
  m.ev.files[0].path = hostile;
  for (const auto exporter : {to_perfetto, to_speedscope}) {
    const auto written = write(exporter, m.ev);
    parse(written.text);
    EXPECT_THAT(written.text, Not(HasSubstr("\x1b")));
  }
  const auto folded = write(to_folded, m.ev).text;
  EXPECT_EQ(std::count(folded.begin(), folded.end(), '\n'), 1);
  EXPECT_EQ(std::count(folded.begin(), folded.end(), ';'), 2);
  EXPECT_THAT(folded, HasSubstr("a\\x3bb"));
  EXPECT_TRUE(folded.ends_with(" 1\n"));
}

TEST(Export, times_out_of_any_range_are_survived) {
  Maker m;
  m.dump(0).timed(1, 10, 15).timed(2, 20, 10).timed(3, 0, 0).timed(4, 0, 0);
  m.ev.entries[2].started_ns = m.ev.entries[2].created_ns = INT64_MAX;
  m.ev.entries[3].started_ns = INT64_MIN, m.ev.entries[3].created_ns = 1;
  const auto d = parse(write(to_perfetto, m.ev).text);
  for (const auto* e : events(d, "X")) EXPECT_GE((*e)["dur"].GetDouble(), 0);
}

TEST(ExportStacks, the_merged_forest_is_weighted_by_ranks) {
  Maker m;
  m.stack(0, {"main", "step", "all_reduce"}).stack(1, {"main", "step", "all_reduce"}).stack(2, {"main", "step"});
  EXPECT_THAT(write(to_folded, m.ev).text,
              testing::AllOf(HasSubstr("main (train.py:3);step (train.py:3);all_reduce (train.py:3) 2\n"),
                             HasSubstr("main (train.py:3);step (train.py:3) 1\n")));
}

TEST(ExportStacks, speedscope_has_a_profile_for_each_rank_and_one_for_all) {
  Maker m;
  m.stack(0, {"main", "step"}).stack(1, {"main", "read"});
  const auto d = parse(write(to_speedscope, m.ev).text);
  const auto& profiles = d["profiles"];
  const auto& frames = d["shared"]["frames"];
  ASSERT_EQ(profiles.Size(), 3U);
  EXPECT_STREQ(profiles[1]["name"].GetString(), "rank 0");
  for (const auto& p : profiles.GetArray()) {
    EXPECT_STREQ(p["type"].GetString(), "sampled");
    ASSERT_EQ(p["samples"].Size(), p["weights"].Size());
    std::int64_t total = 0;
    for (const auto& w : p["weights"].GetArray()) total += w.GetInt64();
    EXPECT_EQ(p["endValue"].GetInt64(), total);
    for (const auto& sample : p["samples"].GetArray()) {
      for (const auto& f : sample.GetArray()) ASSERT_LT(f.GetUint(), frames.Size());
    }
  }
  const auto& sample = profiles[2]["samples"][0];
  EXPECT_STREQ(frames[sample[1].GetUint()]["name"].GetString(), "main");
  EXPECT_STREQ(frames[sample[2].GetUint()]["name"].GetString(), "read");
  EXPECT_EQ(frames[sample[2].GetUint()]["line"].GetInt(), 3);
}

TEST(ExportStacks, no_stacks_write_nothing) {
  const model::Evidence none;
  EXPECT_EQ(write(to_speedscope, none).text, "");
  EXPECT_EQ(write(to_folded, none).text, "");
}

TEST(Export, shared_names_are_those_of_the_report) {
  Maker m;
  m.dump(0).timed(1, 10, -1);
  m.line("traceback", 5, "gn7 lost /home/alice/run/train.py", -1, "gn7").stack(0, {"main"}, "/home/alice/run/train.py");
  model::Report report;
  report.job.nodes = {"gn3", "gn7"};
  report.evidence.files = m.ev.files;
  report.verdict.summary = "gn7 is lost, see /home/alice/run/train.py";
  SharedNames names(report);
  EXPECT_EQ(report.verdict.summary, "NODE-2 is lost, see PATH-1.py");
  for (const auto exporter : {to_perfetto, to_speedscope, to_folded}) {
    const auto text = write(exporter, m.ev, report, [&](std::string_view t) { return names.scrub(t); }).text;
    EXPECT_THAT(text, Not(HasSubstr("gn7")));
    EXPECT_THAT(text, Not(HasSubstr("alice")));
    EXPECT_THAT(text, HasSubstr("PATH-1.py"));
  }
}

}  // namespace
}  // namespace holter::report
