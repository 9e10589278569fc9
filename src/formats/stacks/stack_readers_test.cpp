// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "formats/stacks/parsers.h"

namespace holter::formats::stacks {
namespace {

model::Evidence read(const Reader& reader, std::string_view data, std::size_t chunk = 7) {
  model::Evidence out;
  out.files.push_back({.path = "rank2.json", .format = "", .version = "", .status = model::FileStatus::kRead});
  out.files.back().name_rank = model::GlobalRank{2};
  MemorySource source(data, chunk);
  reader.read(source, {model::FileId{0}, &out.files.back()}, out);
  return out;
}

constexpr std::string_view kJson =
    R"([{"pid":70,"thread_id":139,"thread_name":"MainThread","os_thread_id":70,"active":true,"owns_gil":true,)"
    R"("frames":[{"name":"cudaHostUnregister","filename":"/l/libcudart.so","module":"/l/libcudart.so","short_filename":null,"line":0,"locals":null},)"
    R"({"name":"step","filename":"/w/a.py","module":null,"short_filename":"a.py","line":12,"locals":[{"name":"x","addr":1,"arg":true,"repr":"1"}]}],)"
    R"("process_info":{"pid":70,"ppid":4,"command_line":"python t.py","parent":null}}])";

TEST(PySpyJson, threads_and_frames) {
  const auto reader = make_pyspy_json_reader();
  EXPECT_GT(reader->probe({}, kJson), 90);
  EXPECT_EQ(reader->probe({}, R"({"entries": [], "frames": 1})"), 0);
  for (const std::size_t chunk : {1u, 1000u}) {
    const auto ev = read(*reader, kJson, chunk);
    ASSERT_EQ(ev.stacks.size(), 1u);
    const auto& s = ev.stacks[0];
    EXPECT_EQ(s.pid, 70);
    EXPECT_EQ(s.tid, 70);
    EXPECT_EQ(s.parent_pid, 4);
    EXPECT_TRUE(s.owns_gil);
    EXPECT_EQ(value(s.rank), 2);
    EXPECT_EQ(s.role, model::ThreadRole::kMain);
    EXPECT_EQ(ev.text(s.process), "python t.py");
    ASSERT_EQ(s.frames.size(), 2u);
    EXPECT_EQ(ev.text(s.frames[0].file), "a.py");
    EXPECT_EQ(s.frames[0].line, 12);
    EXPECT_EQ(s.frames[1].kind, model::FrameKind::kNative);
  }
}

TEST(PySpyJson, wrapped_lists_inherit_rank_and_host) {
  const auto ev = read(
      *make_pyspy_json_reader(),
      R"({"rank":5,"hostname":"gn7","stacks":[{"thread_name":"w","frames":[{"name":"f","filename":"a.py","line":1}]}]})"
      "\n"
      R"({"rank":6,"stacks":[{"frames":[{"name":"g","filename":"a.py","line":1}]}]})");
  ASSERT_EQ(ev.stacks.size(), 2u);
  EXPECT_EQ(value(ev.stacks[0].rank), 5);
  EXPECT_EQ(ev.text(ev.stacks[0].node), "gn7");
  EXPECT_EQ(value(ev.stacks[1].rank), 6);
  EXPECT_EQ(ev.stacks[1].at.pos, 2u);
}

TEST(PySpyJson, truncation_is_a_problem_and_keeps_what_was_read) {
  const auto ev = read(*make_pyspy_json_reader(), std::string(kJson.substr(0, kJson.size() - 1)) + ",{\"pid\":7");
  EXPECT_EQ(ev.stacks.size(), 1u);
  ASSERT_EQ(ev.problems.size(), 1u);
  EXPECT_EQ(ev.problems[0].what, "the input ends early");
  EXPECT_EQ(ev.files[0].status, model::FileStatus::kPartial);
}

TEST(PySpyJson, depth_is_bounded) {
  const auto ev = read(*make_pyspy_json_reader(), std::string(100'000, '['), 4096);
  EXPECT_EQ(ev.problems.size(), 1u);
}

TEST(Folded, plain_lines) {
  const auto reader = make_folded_reader();
  EXPECT_GT(reader->probe({}, "main;a;b 12\nmain;c 3\n"), 50);
  EXPECT_EQ(reader->probe({}, "step 3\nstep 4\n"), 0);
  const auto ev =
      read(*reader,
           "process 9:\"python t.py\";thread (9);<module> (t.py:1);f (t.py:4) 12\nrank 7;g (a.py:1);h (b.py:2) 1\n");
  ASSERT_EQ(ev.stacks.size(), 2u);
  EXPECT_EQ(ev.stacks[0].pid, 9);
  EXPECT_EQ(ev.stacks[0].samples, 12u);
  ASSERT_EQ(ev.stacks[0].frames.size(), 2u);
  EXPECT_EQ(ev.text(ev.stacks[0].frames[1].function), "f");
  EXPECT_EQ(ev.stacks[0].frames[1].line, 4);
  EXPECT_EQ(value(ev.stacks[1].rank), 7);
}

TEST(Folded, rank_sets_of_dlrover) {
  const auto ev =
      read(*make_folded_reader(), "main@t.py@0-7|;step@t.py@0-2/5-7|3-4;all_reduce@dist.py@0-2/5-7|3-4 1\n");
  ASSERT_EQ(ev.stacks.size(), 1u);
  EXPECT_EQ(ev.stacks[0].ranks.to_string(), "0-2,5-7");
  EXPECT_EQ(value(ev.stacks[0].rank), -1);
  EXPECT_EQ(ev.text(ev.stacks[0].frames[2].function), "all_reduce");
  EXPECT_EQ(ev.text(ev.stacks[0].frames[2].file), "dist.py");
}

TEST(Folded, other_lines_are_counted) {
  const auto ev = read(*make_folded_reader(), "a;b 1\nnot this\nnor this\n");
  EXPECT_EQ(ev.stacks.size(), 1u);
  ASSERT_EQ(ev.problems.size(), 1u);
  EXPECT_EQ(ev.problems[0].times, 2u);
}

}  // namespace
}  // namespace holter::formats::stacks
