// SPDX-License-Identifier: Apache-2.0
// The evidence of one process of the job: state of its threads, stacks, Flight Recorder, limits, logs.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "collect/manifest.h"
#include "platform/processes.h"

namespace holter::collect {

// Takes a record and its data; thread-safe where processes are collected at the same time.
using Keep = std::function<void(Record record, std::string data, base::UnixNs modified)>;

struct ProcessOptions {
  std::string root;                                // the folder that holds "proc"; empty: this host
  std::chrono::steady_clock::time_point deadline;  // nothing is begun after it
  std::size_t log_tail = std::size_t{4} << 20;     // bytes of each log file
  std::size_t max_dump = std::size_t{64} << 20;    // bytes of a Flight Recorder dump
  std::chrono::milliseconds dump_wait{10'000};     // for the process to write its dump
};

class ProcessEvidence {
 public:
  ProcessEvidence(const platform::JobProcess& process, const ProcessOptions& options, Keep keep);

  // Asks PyTorch for a dump by one byte into its pipe; training goes on. Does not wait.
  void trigger_flight_recorder();
  // The dump that was asked for, or an older one that lies there.
  void flight_recorder();
  // States and kernel stacks of all threads; Python and native stacks where a tool is installed. Nothing is attached
  // to a process that sits in a device or storage request: that could stop it for good.
  void stacks();
  // Environment (allow-list), limits, memory and cgroup counters.
  void settings();
  // Ends of the files that its standard output and error go to.
  void logs();

 private:
  std::string proc(std::string_view name) const;
  std::string file(std::string_view name) const { return folder_ + "/" + std::string(name); }
  std::string variable(std::string_view name) const;
  bool time_left() const { return std::chrono::steady_clock::now() < options_.deadline; }
  void threads(bool& in_request);
  void command(const char* item, const std::string& name, const std::vector<std::string>& argv,
               std::chrono::milliseconds deadline, std::size_t max_bytes, bool scrub);
  void cgroup();
  std::string dump_stem() const;

  const platform::JobProcess& process_;
  const ProcessOptions& options_;
  Keep keep_;
  std::string folder_;             // "rank3" or "pid4711"
  std::int64_t triggered_ns_ = 0;  // when the pipe took the byte
};

}  // namespace holter::collect
