// SPDX-License-Identifier: Apache-2.0
// What was taken, when, and how it went: schema holter.collect/1. A host, or a file, that could not be had is
// evidence and stands here with its reason.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"

namespace holter::collect {

enum class Status {
  kTaken,
  kCut,      // taken in part: bound on the size
  kMissing,  // not there: no such program, file or service
  kRefused,  // no permission
  kTimeout,  // the deadline came; what had been printed is kept
  kFailed,   // it said so itself
  kSkipped,  // not tried: the time was up, or it would have disturbed the job
};
const char* to_string(Status status);

struct Record {
  std::string item;  // "kernel_log"
  std::string file;  // in the folder or archive; empty when nothing was taken
  Status status = Status::kTaken;
  std::string detail;  // why, for anything but kTaken
  std::uint64_t bytes = 0;
  base::UnixNs started = 0;
  std::int64_t took_ms = 0;
};

struct ProcessRecord {
  int pid = 0;
  std::int32_t rank = -1;
  char state = '?';
  base::UnixNs started = 0;
  std::string command;
};

struct HostManifest {
  std::string host;
  std::string version;  // of Holter
  base::UnixNs started = 0, ended = 0;
  std::vector<ProcessRecord> processes;
  std::vector<Record> records;
};

// One host of a job, as the collecting side saw it.
struct HostOutcome {
  std::string host;
  std::string file;  // its archive
  Status status = Status::kTaken;
  std::string detail;
  std::uint64_t bytes = 0;
  std::int64_t took_ms = 0;
};

struct JobManifest {
  std::string job;  // "slurm 88123", "hosts FILE", "local"
  std::string version;
  base::UnixNs started = 0, ended = 0;
  std::vector<HostOutcome> hosts;
};

std::string to_json(const HostManifest& manifest);
std::string to_json(const JobManifest& manifest);

}  // namespace holter::collect
