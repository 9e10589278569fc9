// SPDX-License-Identifier: Apache-2.0
// Everything read from the inputs: what readers fill and the engine reasons over.
//
// One Evidence is filled by one thread (its pools are not thread-safe); parts are joined by merge().
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/large_vector.h"
#include "base/string_pool.h"
#include "model/clock.h"
#include "model/collective.h"
#include "model/event.h"
#include "model/fact.h"
#include "model/nccl.h"
#include "model/source.h"
#include "model/stack.h"

namespace holter::model {

struct Evidence {
  base::StringPool strings;
  std::vector<SourceFile> files;
  std::vector<Problem> problems;

  std::vector<FrDump> dumps;
  base::LargeVector<FrEntry> entries;
  std::vector<Shape> shapes{Shape{}};                     // ShapeId indexes it
  std::vector<std::vector<std::int32_t>> rank_lists{{}};  // RankListId indexes it
  std::vector<std::vector<Frame>> frame_lists{{}};        // FrameListId; innermost first, as recorded

  std::vector<Event> events;
  std::vector<WatchdogRecord> watchdog;
  std::vector<StackSample> stacks;
  NcclLog nccl;
  std::vector<RasReply> ras;
  std::vector<Fact> facts;
  std::vector<Table> tables;
  std::vector<Clock> clocks{{}};  // Timestamp::clock indexes it; filled once everything is read

  std::string_view text(StrId id) const { return strings.view(id); }
  StrId intern(std::string_view s) { return strings.intern(s); }

  ShapeId intern_shape(const Shape& shape);
  // Parses "[0, 1, 2]" once per distinct text.
  RankListId intern_rank_list(std::string_view text);
  FrameListId intern_frames(const std::vector<Frame>& frames);
  // Counts equal problems of one file instead of repeating them.
  void add_problem(SourceRef at, std::string what);

  // Moves all of `other` into this one; its files get the next ids here. Joining parts in the order of
  // their files gives the same result as reading all files into one Evidence.
  void merge(Evidence&& other);

 private:
  struct TextHash {  // finds by string_view without a copy
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return base::hash_of(text); }
  };

  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> shape_index_;
  std::unordered_map<std::string, RankListId, TextHash, std::equal_to<>> rank_list_index_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> frames_index_;
  std::unordered_map<std::string, std::size_t> problem_index_;
};

}  // namespace holter::model
