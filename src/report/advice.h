// SPDX-License-Identifier: Apache-2.0
// From a report to what a person or a requeue script does with the job now. Nothing is done here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/report.h"

namespace holter::report {

enum class Course { kRestart, kDoNotRestart, kUndecided };

struct Advice {
  Course course = Course::kUndecided;
  bool evidence_first = false;             // what stands in `keep` is lost by a restart
  std::vector<std::string> exclude_nodes;  // host names only: safe in a command line
  std::vector<std::string> refused_nodes;  // names of the evidence that are no host names, printable
  std::string resume_from;
  std::string why, owner, verdict, summary;
  std::vector<std::string> keep;      // before a restart
  std::vector<model::Action> repair;  // before it can succeed, or for the owner
};

Advice advise(const model::Report& report);

enum class AdviceFormat { kText, kSlurm, kKubernetes, kTorchrun, kJson };

// `job`: the id for scontrol; may be empty. Lines that are not meant for the shell are comments; no text of the
// evidence stands outside of them, except host names.
std::string to_text(const Advice& advice, AdviceFormat format, std::string_view job);

}  // namespace holter::report
