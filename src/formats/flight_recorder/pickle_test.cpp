// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/pickle.h"

#include <gmock/gmock.h>

#include "formats/flight_recorder/reader.h"
#include "formats/flight_recorder/test_pickles.h"

namespace holter::formats::flight_recorder {
namespace {

using testing::add_entry;
using ::testing::HasSubstr;
using testing::PickleWriter;

model::Evidence read(std::string_view data, std::size_t chunk = 64 * 1024) {
  model::Evidence ev;
  ev.files.push_back({});
  MemorySource source(data, chunk);
  PickleReader().read(source, {model::FileId{0}, &ev.files[0]}, ev);
  return ev;
}

std::string dump_with(int entries) {
  PickleWriter w;
  w.raw("}(").key_str("version", "2.9").str("pg_config").raw("}(").str("0").raw("}(");
  w.key_str("name", "0").key_str("desc", "default_pg").key_str("ranks", "[0, 1, 2, 3]").raw("uu");
  w.str("pg_status").raw("}(").str("7").raw("}(").key_num("last_enqueued_collective", 9);
  w.key_num("last_started_collective", -1).key_num("last_completed_collective", 8).raw("uu");
  w.str("entries").raw("](");
  for (int i = 0; i < entries; ++i) add_entry(w, i, "nccl:all_reduce");
  return w.raw("eu").done();
}

TEST(Pickle, a_dump_becomes_groups_statuses_and_entries) {
  const auto ev = read(dump_with(3));
  EXPECT_TRUE(ev.problems.empty());
  ASSERT_EQ(ev.dumps.size(), 1u);
  EXPECT_EQ(ev.text(ev.dumps[0].version), "2.9");
  EXPECT_EQ(ev.dumps[0].entry_count, 3u);
  EXPECT_EQ(ev.entries[2].collective_seq, 2);
  EXPECT_EQ(ev.text(ev.entries[2].op), "all_reduce");
  EXPECT_EQ(ev.text(ev.entries[2].backend), "nccl");
  EXPECT_EQ(ev.text(ev.entries[2].group_desc), "desc");
  ASSERT_EQ(ev.dumps[0].statuses.size(), 1u);
  EXPECT_EQ(ev.dumps[0].statuses[0].last_completed, 8);
  EXPECT_EQ(ev.dumps[0].statuses[0].last_started, -1);
}

TEST(Pickle, values_over_chunk_borders_read_the_same) {
  const auto data = dump_with(20);
  const auto whole = read(data);
  for (const std::size_t chunk : {1, 2, 3, 7, 100}) {
    const auto ev = read(data, chunk);
    EXPECT_TRUE(ev.problems.empty()) << chunk;
    ASSERT_EQ(ev.entries.size(), whole.entries.size()) << chunk;
    EXPECT_EQ(ev.entries[19].collective_seq, 19);
  }
}

TEST(Pickle, a_cut_dump_keeps_every_complete_entry_and_the_groups) {
  const auto data = dump_with(10);
  std::size_t last = 0;
  for (std::size_t size = 3; size < data.size() - 1; ++size) {
    const auto ev = read(std::string_view(data).substr(0, size));
    ASSERT_EQ(ev.dumps.size(), 1u) << size;
    EXPECT_TRUE(ev.dumps[0].truncated) << size;
    EXPECT_EQ(ev.problems.size(), 1u) << size;
    EXPECT_GE(ev.entries.size(), last) << size;
    last = ev.entries.size();
    if (last > 0) {
      EXPECT_EQ(ev.dumps[0].groups.size(), 1u) << size;
    }
  }
  EXPECT_EQ(last, 10u);
}

TEST(Pickle, a_call_is_refused_and_what_came_before_is_kept) {
  PickleWriter w;
  w.raw("}(").str("entries").raw("](");
  add_entry(w, 1, "nccl:broadcast");
  w.raw("cposix\nsystem\n").str("true").raw("\x85R");
  const auto ev = read(w.raw("eu").done());
  ASSERT_EQ(ev.problems.size(), 1u);
  EXPECT_THAT(ev.problems[0].what, HasSubstr("GLOBAL): refused"));
  EXPECT_EQ(ev.entries.size(), 1u);
  EXPECT_EQ(ev.files[0].status, model::FileStatus::kPartial);
}

TEST(Pickle, every_opcode_that_imports_or_calls_is_refused) {
  using namespace std::string_view_literals;
  for (const auto op : {"c"sv, "i"sv, "o"sv, "R"sv, "b"sv, "P"sv, "Q"sv, "\x81"sv, "\x82"sv, "\x83"sv, "\x84"sv,
                        "\x92"sv, "\x93"sv, "\x97"sv}) {
    const auto ev = read(PickleWriter().raw("}").raw(op).raw("os\nsystem\n").done());
    ASSERT_EQ(ev.problems.size(), 1u);
    EXPECT_THAT(ev.problems[0].what, HasSubstr("refused")) << op;
  }
}

TEST(Pickle, a_bare_list_is_the_oldest_version) {
  PickleWriter w;
  w.raw("](");
  w.raw("}(").key_num("record_id", 5).key_num("seq_id", 41).key_str("profiling_name", "nccl:reduce").raw("u");
  w.raw("}(").key_num("record_id", 6).key_num("seq_id", 42).key_str("profiling_name", "nccl:send 1->0").raw("u");
  const auto ev = read(w.raw("e").done());
  EXPECT_TRUE(ev.problems.empty());
  ASSERT_EQ(ev.entries.size(), 2u);
  EXPECT_EQ(ev.entries[0].collective_seq, 41);
  EXPECT_TRUE(ev.entries[1].is_p2p);
  EXPECT_EQ(ev.entries[1].p2p_seq, 42);
  EXPECT_EQ(ev.entries[1].collective_seq, -1);
}

// What pickle.dumps() of protocol 4 writes: frames, memoised containers, one-item APPEND.
TEST(Pickle, shared_containers_of_repickled_files_are_resolved) {
  PickleWriter w;
  w.raw("}\x94(").str("entries").raw("]\x94(");
  w.raw("}\x94(").str("record_id").raw("K\x01").str("profiling_name").str("nccl:all_reduce").str("input_sizes");
  w.raw(std::string_view("]\x94]\x94(K\x04M\x00\x14"
                         "ea",
                         12))
      .raw("u");
  w.raw("}\x94(").str("record_id").raw("K\x02").str("profiling_name").str("nccl:all_reduce").str("input_sizes");
  w.raw("h\x03u");
  // EMPTY_DICT is memo 0, the list 1, the first entry 2, its sizes 3.
  std::string data = w.raw("eu").done();
  const auto ev = read(data);
  EXPECT_TRUE(ev.problems.empty());
  ASSERT_EQ(ev.entries.size(), 2u);
  EXPECT_EQ(ev.entries[0].shape, ev.entries[1].shape);
  const auto& shape = ev.shapes[static_cast<std::uint32_t>(ev.entries[1].shape)];
  EXPECT_EQ(ev.text(shape.input_sizes), "[[4, 5120]]");
  EXPECT_EQ(shape.numel_in, 4u * 5120u);
}

TEST(Pickle, bounds_hold) {
  const auto deep = read(PickleWriter().raw(std::string(1000, '(')).done());
  EXPECT_THAT(deep.problems[0].what, HasSubstr("deep"));
  const auto memo = read(PickleWriter().raw("}").raw("r\xff\xff\xff\x7f").done());
  EXPECT_THAT(memo.problems[0].what, HasSubstr("memo"));
  const auto length = read(PickleWriter().raw("X\xff\xff\xff\xff").raw("abc").done());
  EXPECT_TRUE(length.dumps[0].truncated);
}

}  // namespace
}  // namespace holter::formats::flight_recorder
