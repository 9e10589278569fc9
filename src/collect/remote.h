// SPDX-License-Identifier: Apache-2.0
// Many hosts at the same time, each under its own deadline, from one thread.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "collect/manifest.h"
#include "collect/transport.h"

namespace holter::collect {

struct RemoteOptions {
  std::string folder;                        // of the archives: HOST.tar.zst, HOST.partial.tar.zst when it was cut
  std::string program;                       // our program, gzip
  std::vector<std::string> arguments;        // of the program there
  std::vector<std::string> other_arguments;  // added for all hosts but the first, which asks once for the job
  std::size_t parallel = 32;
  std::chrono::milliseconds deadline{60'000};    // for each host, from its start
  std::size_t max_bytes = std::size_t{1} << 30;  // of one archive
  std::function<void(const HostOutcome&, std::size_t done, std::size_t all)> progress;
  std::function<bool()> stop;  // asked between events; true ends all that runs
};

// In the order of targets. A host whose archive is there already is not asked again. Never fails: what a host did not
// give is its outcome.
std::vector<HostOutcome> collect_remote(const std::vector<Target>& targets, const RemoteOptions& options);

}  // namespace holter::collect
