// SPDX-License-Identifier: Apache-2.0
// Failures that logs state themselves: known error texts and tracebacks, folded to one candidate a
// cause and place, with what the tables say of the cause.
#pragma once

#include <string>
#include <vector>

#include "diagnose/device_facts.h"
#include "diagnose/diagnoser.h"

namespace holter::diagnose {

struct LogFailure {
  std::string cause;
  double vote = 0;                              // of the signature for this cause
  bool secondary = false;                       // says peer, remote, connection, timeout
  const model::Signature* signature = nullptr;  // null: a traceback that no signature knows
  std::vector<const model::Event*> events;      // earliest first
};

std::string field_text(const Context& context, const model::Event& event, std::string_view name);
// Rank, node and attempt of an event, with what its file's name and the job's map add.
std::string node_of(const Context& context, const model::Event& event);
std::int32_t attempt_of(const Context& context, const model::Event& event);
// "rank 4 on node1", "node1", or the file's path.
std::string who(const Context& context, const model::Event& event);
// "13:11:17", or "" when the time is unknown.
std::string clock(const model::Timestamp& time);

// Certainly earlier: a lower attempt, else a time that is earlier by more than the clocks may differ.
bool before(const Context& context, const model::Event& a, const model::Event& b);
// For sorting: a lower attempt, else the earlier time as far as the clocks are known.
bool earlier(const Context& context, const model::Event& a, const model::Event& b);
// "400 ms apart, and the clocks of n1 and n2 are only known to agree within 1.0 s"; "" where the first of
// the two is certainly the first, or nothing can be compared.
std::string unordered_note(const Context& context, const model::Event& first, const model::Event& second);
std::string unordered_note(const Context& context, std::uint32_t first_clock, std::uint32_t second_clock,
                           std::int64_t apart_ns);
// "48 ms", "125.3 s", "2:00:04"; without sign.
std::string length_text(std::int64_t ns);
// "gn7", "the host of rank 3", or the file's path.
std::string clock_name(const Context& context, const model::Clock& clock);

std::vector<LogFailure> log_failures(const Context& context);

// A finding of this cause with kind, owner, severity, restart and action of rules/cause_defaults.csv.
model::Finding finding_of(const Context& context, std::string_view cause);

}  // namespace holter::diagnose
