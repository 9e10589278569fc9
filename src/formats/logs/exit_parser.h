// SPDX-License-Identifier: Apache-2.0
// How processes ended, as launchers, schedulers and clusters report it.
//
// Event "exit": tool (torchrun, slurm, ray, deepspeed, kubernetes, accelerate, mpi, vllm), how
// (exitcode, signal, oom_kill, preempted, time_limit, cancelled, node_failure, evicted, actor_died),
// exitcode, signal (number), local_rank, pid, host, task. Event.rank is the global rank where it is
// stated. Lines of one report (Ray's actor details, torchrun's failure table) are joined.
#pragma once

#include <memory>

#include "formats/text/line.h"

namespace holter::formats::logs {

std::unique_ptr<text::LineParser> make_exit_parser();

}  // namespace holter::formats::logs
