// SPDX-License-Identifier: Apache-2.0
// The processes of a training or serving job on this host, found in /proc without touching them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holter::platform {

struct JobProcess {
  int pid = 0;
  std::string command;                                           // its arguments, printable, at most 400 bytes
  std::optional<std::int32_t> rank;                              // RANK, else SLURM_PROCID or OMPI_COMM_WORLD_RANK
  char state = '?';                                              // R, S, D, T, Z of /proc/PID/stat
  std::int64_t started_ns = 0;                                   // Unix time; 0: not known
  std::vector<std::pair<std::string, std::string>> environment;  // the whole of it; never print it unfiltered
};

struct ProcessFilter {
  std::string slurm_job;  // only processes whose SLURM_JOB_ID is this one; empty: any job
};

// A process belongs to a job when its environment names a rank (torchrun, srun, mpirun), or it has a GPU device open
// (/dev/nvidia0, /dev/kfd). Launchers and loader workers without a device are left out when a rank of the same job is
// there: of several processes with one rank, those with a device, else the oldest. `root` is the folder that holds
// "proc". Processes that may not be read are not listed; `unreadable` counts them.
std::vector<JobProcess> find_job_processes(const std::string& root, const ProcessFilter& filter,
                                           std::size_t* unreadable = nullptr);

}  // namespace holter::platform
