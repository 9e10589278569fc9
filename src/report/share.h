// SPDX-License-Identifier: Apache-2.0
// A report that may leave the house: names of hosts, jobs, users, models, processes and files,
// functions of code that is not public, addresses, identifiers and secrets become placeholders, the
// same one wherever the same name stands ("NODE-2"). Ranks, times, operations, error texts and the
// names of public libraries stay: they are the diagnosis.
//
// What a name is, is known from the fields that hold names (nodes, jobs, files), from what stands around
// it anywhere in the report ("hostname=", "invoked oom-killer"; share/contexts.h) and from its shape
// (paths, addresses; share/patterns.h). A name that nothing marks as one cannot be told from a word and
// stays: read the result before you send it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/report.h"

namespace holter::report {

void scrub(model::Report& report);

// The names of one report, for texts of the same evidence that are not part of it (exports): a name
// gets the placeholder that it has in the scrubbed report.
class SharedNames {
 public:
  explicit SharedNames(model::Report& report);  // scrubs the report
  ~SharedNames();
  SharedNames(SharedNames&&) noexcept;

  std::string scrub(std::string_view text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holter::report
