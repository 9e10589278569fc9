// SPDX-License-Identifier: Apache-2.0
// The hosts of a job, asked from its scheduler.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "collect/transport.h"

namespace holter::collect {

// Nodes of a running Slurm job (squeue, scontrol). Codes: kInvalid no job id, kUnavailable no Slurm here,
// kNotFound the job does not run.
base::Result<std::vector<Target>> slurm_targets(const std::string& job);

// Pods of "NAMESPACE/SELECTOR" or "NAMESPACE/pod/NAME" (kubectl get pods).
base::Result<std::vector<Target>> kubernetes_targets(const std::string& where, const std::string& container);

// Output of `scontrol show job`, and the files that it names for standard output and error.
struct SlurmJob {
  std::string description;
  std::vector<std::string> logs;
};
base::Result<SlurmJob> slurm_job(const std::string& job);

}  // namespace holter::collect
