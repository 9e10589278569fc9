// SPDX-License-Identifier: Apache-2.0
// Builds small jobs for tests: dumps with groups, statuses and pending calls.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/rules/rules.h"
#include "hang/calls.h"
#include "hang/job.h"
#include "model/evidence.h"

namespace holter::hang::testing {

class JobMaker {
 public:
  // Opens the dump of `rank`; calls below belong to it.
  JobMaker& dump(std::int32_t rank) {
    ev.files.push_back({.path = "dump_" + std::to_string(rank)});
    model::FrDump d;
    d.file = static_cast<model::FileId>(ev.files.size() - 1);
    d.rank = model::GlobalRank{rank};
    d.first_entry = ev.entries.size();
    d.has_status = true;
    for (const auto& [name, ranks] : groups_) {
      const auto list = ev.intern_rank_list(ranks);
      for (const auto member : ev.rank_lists[static_cast<std::uint32_t>(list)]) {
        if (member == rank) d.groups.push_back({ev.intern(name), ev.intern("desc_" + name), list});
      }
    }
    ev.dumps.push_back(d);
    return *this;
  }
  JobMaker& group(const std::string& name, const std::string& ranks) {
    groups_[name] = ranks;
    return *this;
  }
  JobMaker& status(const std::string& group, std::int64_t enqueued, std::int64_t completed) {
    ev.dumps.back().statuses.push_back({.pg_id = 0,
                                        .group_name = ev.intern(group),
                                        .last_enqueued = enqueued,
                                        .last_started = -1,
                                        .last_completed = completed});
    return *this;
  }
  // A pending call, or a completed one.
  JobMaker& call(const std::string& group, std::int64_t seq, const std::string& op, std::uint64_t numel = 8,
                 bool completed = false) {
    model::FrEntry e;
    e.group_name = ev.intern(group);
    e.group_desc = ev.intern("desc_" + group);
    e.op = ev.intern(op);
    e.is_p2p = op.starts_with("send ") || op.starts_with("recv ");
    (e.is_p2p ? e.p2p_seq : e.collective_seq) = seq;
    e.record_id = static_cast<std::int64_t>(ev.dumps.back().entry_count);
    e.created_ns = 1'000'000'000 + static_cast<std::int64_t>(ev.entries.size());
    e.state = completed ? model::OpState::kCompleted : model::OpState::kScheduled;
    model::Shape shape;
    shape.input_sizes = ev.intern("[[" + std::to_string(numel) + "]]");
    shape.numel_in = shape.numel_out = numel;
    e.shape = ev.intern_shape(shape);
    ev.entries.push_back(e);
    ev.dumps.back().entry_count++;
    return *this;
  }

  model::Evidence ev;

 private:
  std::map<std::string, std::string> groups_;
};

}  // namespace holter::hang::testing
