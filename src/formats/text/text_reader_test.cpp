// SPDX-License-Identifier: Apache-2.0
#include "formats/text/text_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holter::formats::text {
namespace {

using ::testing::ElementsAre;

// Notes lines with "needle"; after "open" takes every line until "close".
class Probe final : public LineParser {
 public:
  std::vector<std::string_view> triggers() const override { return {"needle", "open block"}; }
  bool wants_all() const override { return open_; }
  void on_line(const Line& line, FileContext context, model::Evidence& out) override {
    open_ = line.body.find("open block") != std::string_view::npos ||
            (open_ && line.body.find("close") == std::string_view::npos);
    out.events.push_back(event("probe", line, context, out));
  }
  std::string_view format() const override { return "probe-log"; }

 private:
  bool open_ = false;
};

struct Read {
  model::Evidence ev;
  std::vector<std::string> probes, notes;
};

Read read(std::string_view text, std::size_t chunk = 64 * 1024) {
  Read r;
  r.ev.files.emplace_back();
  TextReader reader([] {
    std::vector<std::unique_ptr<LineParser>> parsers;
    parsers.push_back(std::make_unique<Probe>());
    return parsers;
  });
  MemorySource source(text, chunk);
  reader.read(source, {model::FileId{0}, &r.ev.files[0]}, r.ev);
  for (const auto& e : r.ev.events) {
    const auto line = std::to_string(e.at.pos) + ":" + std::string(r.ev.text(e.text));
    if (r.ev.text(e.kind) == "probe") r.probes.push_back(line);
    else r.notes.push_back(std::string(r.ev.text(e.kind)) + " " + std::to_string(value(e.rank)) + " " + line);
  }
  return r;
}

TEST(TextReader, line_numbers_over_chunks_and_blocks) {
  const std::string text = "a\nneedle 1\n\nopen block\nx\nclose\ny\nneedle 2";
  for (const std::size_t chunk : {1, 7, 1000}) {
    const auto r = read(text, chunk);
    EXPECT_THAT(r.probes, ElementsAre("2:needle 1", "4:open block", "5:x", "6:close", "8:needle 2")) << chunk;
    EXPECT_EQ(r.ev.files[0].lines, 8u);
    EXPECT_EQ(r.ev.files[0].format, "probe-log");
    EXPECT_EQ(r.ev.files[0].status, model::FileStatus::kRead);
  }
}

TEST(TextReader, far_needles_beyond_the_head) {
  std::string text;
  for (int i = 1; i <= 20'000; ++i) text += i == 15'000 ? "a needle\n" : "some other line of a log\n";
  const auto r = read(text, 100'000);
  EXPECT_THAT(r.probes, ElementsAre("15000:a needle"));
  EXPECT_EQ(r.ev.files[0].lines, 20'000u);
  EXPECT_THAT(r.notes,
              ElementsAre("log.first -1 1:some other line of a log", "log.last -1 20000:some other line of a log"));
}

TEST(TextReader, first_and_last_line_of_every_rank) {
  const auto r = read("[rank0]: a\n[rank1]: b\n[rank0]: c\n\n");
  EXPECT_THAT(r.notes, ElementsAre("log.first 0 1:a", "log.last 0 3:c", "log.first 1 2:b", "log.last 1 2:b"));
  EXPECT_EQ(r.ev.files[0].status, model::FileStatus::kSearched);
}

TEST(TextReader, undated_lines_take_the_time_of_their_neighbours) {
  const auto r = read("2026-05-18 07:31:00 a\nneedle\n2026-05-18 07:31:02 b\n");
  ASSERT_EQ(r.probes.size(), 1u);
  EXPECT_EQ(r.ev.events[0].time.ns, 1'779'089'462'000'000'000);
  EXPECT_EQ(r.ev.text(r.ev.events[0].fields.at(0).first), "time_from");
  const auto far = read("2026-05-18 07:31:02 a\nneedle\n2026-05-18 09:31:02 b\n");
  EXPECT_EQ(far.ev.events[0].time.ns, 1'779'089'462'000'000'000);
}

TEST(TextReader, long_lines_are_cut_and_counted) {
  const auto r = read("needle " + std::string(100'000, 'x') + "\nneedle 2\n", 1 << 20);
  EXPECT_EQ(r.probes.size(), 2u);
  ASSERT_EQ(r.ev.problems.size(), 1u);
  EXPECT_THAT(r.ev.problems[0].what, ::testing::HasSubstr("34471 bytes"));
}

TEST(TextReader, a_hole_of_zeros_does_not_hide_the_log) {
  const TextReader reader([] { return std::vector<std::unique_ptr<LineParser>>(); });
  const std::string hole(4096, '\0');
  EXPECT_GT(reader.probe({}, "step 1\n" + hole + "step 2\n"), 0);
  EXPECT_GT(reader.probe({}, hole + "step 2\n"), 0);
  EXPECT_EQ(reader.probe({}, hole), 0);
  std::string wide;
  for (const char c : std::string_view("step 1\nstep 2\n")) wide += {c, '\0'};
  EXPECT_EQ(reader.probe({}, wide), 0);
}

TEST(TextReader, probe_takes_text_only) {
  TextReader reader([] { return std::vector<std::unique_ptr<LineParser>>(); });
  EXPECT_GT(reader.probe({}, "hello\n"), 0);
  EXPECT_GT(reader.probe({}, std::string(500, '\0') + "log line after a hole\n"), 0);
  EXPECT_EQ(reader.probe({}, std::string_view("\x80\x02}q\x00(X\x07\x00\x00\x00", 11)), 0);
  EXPECT_EQ(reader.probe({}, ""), 0);
}

}  // namespace
}  // namespace holter::formats::text
