// SPDX-License-Identifier: Apache-2.0
// The evidence of this host: what the job's processes, the kernel, the GPUs and the network show.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "collect/items.h"
#include "collect/manifest.h"
#include "collect/sink.h"
#include "platform/processes.h"

namespace holter::collect {

struct HostOptions {
  std::string root;  // the folder that holds "proc" and "sys"; empty: this host
  std::string name;  // of this host, for the manifest
  std::string version;
  platform::ProcessFilter processes;
  std::chrono::milliseconds deadline{60'000};  // nothing is begun after it
  bool ask_ras = true;                         // one host of a job is enough
  std::size_t log_tail = std::size_t{4} << 20;
  base::Executor executor;  // processes at the same time; empty: one after the other
  std::function<void(const Record&)> progress;
};

// In the order of what goes away first: NCCL RAS, Flight Recorder, stacks, kernel log, devices, counters, settings,
// logs. Writes as it goes, manifest.json last. Fails only when the sink does.
base::Result<HostManifest> collect_host(const std::vector<Item>& items, const HostOptions& options, Sink& sink);

// What collect_host would do, a line each.
std::vector<std::string> plan_host(const std::vector<Item>& items, const HostOptions& options);

}  // namespace holter::collect
