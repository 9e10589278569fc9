// SPDX-License-Identifier: Apache-2.0
// Fills one model::FrDump and its entries from a ValueStack.
#pragma once

#include "formats/flight_recorder/entry.h"
#include "formats/flight_recorder/pickle.h"
#include "formats/reader.h"

namespace holter::formats::flight_recorder {

class DumpBuilder final : public EntrySink {
 public:
  DumpBuilder(FileContext context, const ValueStack& stack, model::Evidence& out);

  void on_entry(std::span<const Value> pairs) override;
  // After the parser stopped: groups, status, version, what is missing. Adds the dump.
  void finish(const Value& root, const ParseEnd& end);

 private:
  void read_groups(const Value& config);
  void bound_members(model::FrGroup& group);
  void read_statuses(const Value& status);
  void sort_entries();
  void name_statuses();
  void report(const ParseEnd& end);

  FileContext context_;
  const ValueStack& stack_;
  model::Evidence& out_;
  EntryDecoder decoder_;
  model::FrDump dump_;
  std::uint64_t unreadable_ = 0;
  // Of all groups: 16,384 ranks in 500 groups of the whole job, more than any job is known to make.
  std::size_t members_left_ = 8'000'000;
};

// The group name of every status, by position: the numerically sorted names of pg_config against the
// sorted ids of pg_status. True for every dump seen when both have equally many members.
// Statuses that entries already named are left alone.
void zip_status_names(model::FrDump& dump, const model::Evidence& evidence);

}  // namespace holter::formats::flight_recorder
