// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/json.h"

#include <gmock/gmock.h>

#include "formats/flight_recorder/reader.h"

namespace holter::formats::flight_recorder {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kDump = R"({
 "version": "2.10", "comm_lib_version": "2.28.3",
 "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"},
               "12": {"name": "12", "desc": "mesh_tp", "ranks": [2, 3]}},
 "pg_status": {"0": {"last_enqueued_collective": "903", "last_started_collective": "-1", "last_completed_collective": "902"},
               "3": {"last_enqueued_collective": 7, "last_started_collective": 7, "last_completed_collective": 7}},
 "entries": [
  {"record_id": 10, "pg_id": 3, "process_group": ["12", "mesh_tp"], "collective_seq_id": 7, "p2p_seq_id": 0,
   "op_id": 7, "profiling_name": "nccl2:_all_gather_base", "time_created_ns": 1730000009030000000, "duration_ms": 1.5,
   "input_sizes": [[50331648]], "input_dtypes": ["BFloat16"], "output_sizes": [[100663296]], "output_dtypes": ["BFloat16"],
   "state": "completed", "time_discovered_started_ns": 1730000009030009000, "time_discovered_completed_ns": 1730000009030010000,
   "retired": true, "timeout_ms": 600000, "is_p2p": false,
   "frames": [{"name": "save_best", "filename": "train.py", "line": 214}]},
  {"record_id": 11, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 903,
   "profiling_name": "gloo:broadcast", "state": "scheduled", "time_discovered_started_ns": 0,
   "time_discovered_completed_ns": null, "retired": false}]})";

model::Evidence read(std::string_view data, std::size_t chunk = 64 * 1024) {
  model::Evidence ev;
  ev.files.push_back({});
  MemorySource source(data, chunk);
  JsonReader().read(source, {model::FileId{0}, &ev.files[0]}, ev);
  return ev;
}

TEST(Json, members_of_all_groups_together_are_bounded) {
  std::string ranks = "0", groups;
  for (int i = 1; i < 200'000; ++i) ranks += ", " + std::to_string(i);
  for (int i = 0; i < 41; ++i)
    groups += (i ? ", \"" : "\"") + std::to_string(i) + R"(": {"ranks": "[)" + ranks + "]\"}";
  const auto ev = read(R"({"version": "2.10", "pg_config": {)" + groups + R"(}, "entries": []})");
  ASSERT_EQ(ev.dumps.at(0).groups.size(), 41U);
  EXPECT_NE(ev.dumps[0].groups[39].ranks, model::RankListId::kNone);
  EXPECT_EQ(ev.dumps[0].groups[40].ranks, model::RankListId::kNone);
  ASSERT_EQ(ev.problems.size(), 1U);
  EXPECT_THAT(ev.problems[0].what, HasSubstr("too many members"));
}

TEST(Json, all_fields_arrive) {
  const auto ev = read(kDump, 5);
  EXPECT_TRUE(ev.problems.empty());
  const auto& dump = ev.dumps.at(0);
  EXPECT_EQ(ev.text(dump.nccl_version), "2.28.3");
  ASSERT_EQ(dump.groups.size(), 2u);
  EXPECT_THAT(ev.rank_lists[static_cast<std::uint32_t>(dump.groups[1].ranks)], ElementsAre(2, 3));
  const auto& e = ev.entries.at(0);
  EXPECT_EQ(ev.text(e.backend), "nccl2");
  EXPECT_EQ(ev.text(e.op), "_all_gather_base");
  EXPECT_EQ(e.state, model::OpState::kCompleted);
  EXPECT_EQ(e.completed_ns, 1730000009030010000);
  EXPECT_FLOAT_EQ(e.duration_ms, 1.5F);
  EXPECT_EQ(e.timeout_ms, 600000u);
  EXPECT_EQ(ev.shapes[static_cast<std::uint32_t>(e.shape)].numel_out, 100663296u);
  const auto& frames = ev.frame_lists[static_cast<std::uint32_t>(e.frames)];
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(ev.text(frames[0].function), "save_best");
  EXPECT_EQ(frames[0].line, 214);
  EXPECT_EQ(ev.entries[1].completed_ns, 0);
}

TEST(Json, statuses_may_be_text_and_learn_their_group) {
  const auto ev = read(kDump);
  const auto& statuses = ev.dumps[0].statuses;
  ASSERT_EQ(statuses.size(), 2u);
  EXPECT_EQ(statuses[0].last_enqueued, 903);
  EXPECT_EQ(statuses[0].last_started, -1);
  EXPECT_EQ(ev.text(statuses[0].group_name), "0");
  EXPECT_EQ(ev.text(statuses[1].group_name), "12");
}

TEST(Json, any_cut_keeps_the_complete_entries) {
  std::size_t last = 0;
  for (std::size_t size = 1; size < kDump.size(); ++size) {
    const auto ev = read(kDump.substr(0, size));
    ASSERT_EQ(ev.dumps.size(), 1u);
    EXPECT_TRUE(ev.dumps[0].truncated) << size;
    EXPECT_GE(ev.entries.size(), last) << size;
    last = ev.entries.size();
  }
  EXPECT_EQ(last, 2u);
}

TEST(Json, damage_is_a_problem_with_its_place) {
  std::string data(kDump);
  data.replace(data.find("\"record_id\": 11"), 3, "%%%");
  const auto ev = read(data);
  ASSERT_EQ(ev.problems.size(), 1u);
  EXPECT_THAT(ev.problems[0].what, HasSubstr("no JSON"));
  EXPECT_EQ(ev.problems[0].at.kind, model::PosKind::kOffset);
  EXPECT_EQ(ev.entries.size(), 1u);
}

TEST(Json, a_dump_without_entries_is_complete) {
  const auto ev = read(R"({"version":"2.4","pg_config":{},"pg_status":{}})");
  EXPECT_TRUE(ev.problems.empty());
  EXPECT_EQ(ev.dumps[0].entry_count, 0u);
  EXPECT_TRUE(ev.dumps[0].has_status);
  EXPECT_FALSE(ev.dumps[0].truncated);
}

TEST(Json, proxy_operations_of_comm_state) {
  const auto ev =
      read(R"({"version":"2.9","pg_config":{},"nccl_comm_state":{"0x5601":{"commHash":"c0ffee","PT_activeOps":
   "[{\"collInfo\":{\"commHash\":\"c0ffee\",\"opCount\":17},\"channelId\":2,\"nSteps\":8,\"rank\":0,\"remoteRank\":5,
     \"opType\":\"SEND\",\"done\":false,\"POSTED\":{\"step\":4,\"ts\":1},\"TRANSMITTED\":{\"step\":3,\"ts\":1},\"DONE\":{\"step\":2,\"ts\":1}}]"}}})");
  // Line ends inside a JSON string are not JSON; RapidJSON accepts none of them.
  EXPECT_EQ(ev.dumps.size(), 1u);
  std::string flat =
      R"({"version":"2.9","pg_config":{},"nccl_comm_state":{"0x5601":{"PT_activeOps":"[{\"collInfo\":{\"commHash\":\"c0ffee\",\"opCount\":17},\"channelId\":2,\"nSteps\":8,\"remoteRank\":5,\"opType\":\"SEND\",\"done\":false,\"POSTED\":{\"step\":4},\"TRANSMITTED\":{\"step\":3},\"DONE\":{\"step\":2}}]"}}})";
  const auto good = read(flat);
  ASSERT_EQ(good.dumps[0].proxy_ops.size(), 1u);
  const auto& op = good.dumps[0].proxy_ops[0];
  EXPECT_EQ(good.text(op.comm), "c0ffee");
  EXPECT_EQ(op.channel, 2);
  EXPECT_EQ(op.peer, 5);
  EXPECT_EQ(op.op_count, 17);
  EXPECT_TRUE(op.is_send);
  EXPECT_EQ(op.posted, 4);
  EXPECT_EQ(op.transmitted, 3);
  EXPECT_EQ(op.done_steps, 2);
  EXPECT_EQ(op.received, -1);
}

TEST(Json, probe_wants_the_keys_of_a_dump) {
  const model::SourceFile file;
  EXPECT_GE(JsonReader().probe(file, kDump), 90);
  EXPECT_EQ(JsonReader().probe(file, R"({"mesh": {"ranks": [0]}})"), 0);
  EXPECT_EQ(JsonReader().probe(file, R"([{"text": "the \"pg_config\" of"}])"), 0);
  EXPECT_EQ(JsonReader().probe(file, "rank 3 \"pg_config\": x"), 0);
}

}  // namespace
}  // namespace holter::formats::flight_recorder
