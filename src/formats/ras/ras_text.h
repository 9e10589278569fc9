// SPDX-License-Identifier: Apache-2.0
// One text reply of RAS, line by line. Text lists outliers only; everybody else is a number.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "model/evidence.h"

namespace holter::formats::ras {

class TextReply {
 public:
  explicit TextReply(model::Evidence& out) : out_(out) { reply_.text = true; }

  static bool starts(std::string_view line) { return line.starts_with("NCCL version "); }
  void on_line(std::string_view line, std::uint64_t number);
  // Ends the reply; nothing may follow. The Warnings heading is the last part of a whole reply.
  model::RasReply finish();
  bool whole() const { return saw_warnings_; }

 private:
  enum class Section { kHead, kComms, kErrors, kWarnings };

  void comm_row(std::string_view line);
  void block_head(std::string_view line);
  void block_line(std::string_view line, std::uint64_t number);
  void launched_line(std::string_view line);
  void rank_line(std::string_view line, std::uint64_t number);
  void process_line(std::string_view line);
  model::RasComm& comm_of(std::int32_t group, std::string_view hash);
  model::RasRank& rank_of(model::RasComm& comm, std::int32_t rank);

  model::Evidence& out_;
  model::RasReply reply_;
  Section section_ = Section::kHead;
  std::map<std::int32_t, std::size_t> group_comm_;                 // group number -> its row among reply_.comms
  std::set<std::pair<model::StrId, std::int32_t>> dead_, silent_;  // node, pid
  std::string block_;                                              // "INCOMPLETE", "DEAD", "MISMATCH", "TIMEOUT"
  std::size_t comm_ = 0;                                           // of the block, when has_comm_
  bool has_comm_ = false;
  bool saw_warnings_ = false;
  std::int32_t op_ = -1;     // counter that the block is about
  std::int64_t count_ = -1;  // of the ranks listed next
};

}  // namespace holter::formats::ras
