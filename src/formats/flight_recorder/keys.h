// SPDX-License-Identifier: Apache-2.0
// The keys of a dump that we know. A key is looked up once per distinct string, not per use.
#pragma once

#include <array>
#include <cstdint>

#include "base/string_pool.h"

namespace holter::formats::flight_recorder {

enum class Key : std::uint8_t {
  kOther,
  // Top level.
  kVersion,
  kPgConfig,
  kPgStatus,
  kNcclVersion,
  kCommLibVersion,
  kCommState,
  kEntries,
  kRank,
  // Groups and their status.
  kName,
  kDesc,
  kRanks,
  kLastEnqueued,
  kLastStarted,
  kLastCompleted,
  // Entries.
  kFrames,
  kFilename,
  kLine,
  kRecordId,
  kPgId,
  kProcessGroup,
  kPgName,
  kPgDesc,
  kThreadName,
  kSeqId,
  kCollectiveSeqId,
  kP2pSeqId,
  kOpId,
  kProfilingName,
  kCreatedNs,
  kCreatedUs,
  kDurationMs,
  kInputSizes,
  kOutputSizes,
  kInputDtypes,
  kOutputDtypes,
  kState,
  kStartedNs,
  kCompletedNs,
  kRetired,
  kTimeoutMs,
  kIsP2p,
  kCount,
};

class KeyTable {
 public:
  explicit KeyTable(base::StringPool& strings);
  Key find(base::StrId id) const {
    for (std::size_t slot = slot_of(id);; slot = (slot + 1) % kSlots) {
      if (slots_[slot].key == Key::kOther || slots_[slot].id == id) return slots_[slot].key;
    }
  }

 private:
  static constexpr std::size_t kSlots = 256;
  struct Slot {
    base::StrId id = base::StrId::kEmpty;
    Key key = Key::kOther;
  };
  static std::size_t slot_of(base::StrId id) { return (static_cast<std::uint32_t>(id) * 2654435769U) >> 24; }
  std::array<Slot, kSlots> slots_{};
};

}  // namespace holter::formats::flight_recorder
