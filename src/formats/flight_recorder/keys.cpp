// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/keys.h"

#include <string_view>
#include <utility>

namespace holter::formats::flight_recorder {

namespace {

constexpr std::pair<std::string_view, Key> kNames[] = {
    {"version", Key::kVersion},
    {"pg_config", Key::kPgConfig},
    {"pg_status", Key::kPgStatus},
    {"nccl_version", Key::kNcclVersion},
    {"comm_lib_version", Key::kCommLibVersion},
    {"nccl_comm_state", Key::kCommState},
    {"entries", Key::kEntries},
    {"rank", Key::kRank},
    {"name", Key::kName},
    {"desc", Key::kDesc},
    {"ranks", Key::kRanks},
    {"last_enqueued_collective", Key::kLastEnqueued},
    {"last_started_collective", Key::kLastStarted},
    {"last_completed_collective", Key::kLastCompleted},
    {"frames", Key::kFrames},
    {"filename", Key::kFilename},
    {"line", Key::kLine},
    {"record_id", Key::kRecordId},
    {"pg_id", Key::kPgId},
    {"process_group", Key::kProcessGroup},
    {"pg_name", Key::kPgName},
    {"pg_desc", Key::kPgDesc},
    {"thread_name", Key::kThreadName},
    {"seq_id", Key::kSeqId},
    {"collective_seq_id", Key::kCollectiveSeqId},
    {"p2p_seq_id", Key::kP2pSeqId},
    {"op_id", Key::kOpId},
    {"profiling_name", Key::kProfilingName},
    {"time_created_ns", Key::kCreatedNs},
    {"time_created_us", Key::kCreatedUs},
    {"duration_ms", Key::kDurationMs},
    {"input_sizes", Key::kInputSizes},
    {"output_sizes", Key::kOutputSizes},
    {"input_dtypes", Key::kInputDtypes},
    {"output_dtypes", Key::kOutputDtypes},
    {"state", Key::kState},
    {"time_discovered_started_ns", Key::kStartedNs},
    {"time_discovered_completed_ns", Key::kCompletedNs},
    {"retired", Key::kRetired},
    {"timeout_ms", Key::kTimeoutMs},
    {"is_p2p", Key::kIsP2p},
};

}  // namespace

KeyTable::KeyTable(base::StringPool& strings) {
  for (const auto& [name, key] : kNames) {
    const auto id = strings.intern(name);
    auto slot = slot_of(id);
    while (slots_[slot].key != Key::kOther) slot = (slot + 1) % kSlots;
    slots_[slot] = {id, key};
  }
}

}  // namespace holter::formats::flight_recorder
