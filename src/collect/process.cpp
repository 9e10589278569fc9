// SPDX-License-Identifier: Apache-2.0
#include "collect/process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/strings.h"
#include "collect/read_small.h"
#include "collect/redact.h"
#include "collect/run_item.h"

namespace holter::collect {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMaxThreads = 2000;
constexpr auto kStackDeadline = seconds(8);
constexpr auto kFileDeadline = seconds(5);
constexpr std::size_t kStackBytes = std::size_t{4} << 20;
const base::SystemClock kClock;

std::string state_line(char state) {
  switch (state) {
    case 'R': return "State:\tR (running)";
    case 'S': return "State:\tS (sleeping)";
    case 'D': return "State:\tD (disk sleep)";
    case 'T': return "State:\tT (stopped)";
    case 't': return "State:\tt (tracing stop)";
    case 'Z': return "State:\tZ (zombie)";
    case 'X': return "State:\tX (dead)";
    case 'I': return "State:\tI (idle)";
    default: return "State:\t?";
  }
}

char state_of(const std::string& stat) {
  const auto end = stat.rfind(") ");
  return end == std::string::npos || end + 2 >= stat.size() ? '?' : stat[end + 2];
}

Record record_of(const char* item, std::string file) {
  return {.item = item, .file = std::move(file), .started = kClock.now()};
}

}  // namespace

ProcessEvidence::ProcessEvidence(const platform::JobProcess& process, const ProcessOptions& options, Keep keep)
    : process_(process),
      options_(options),
      keep_(std::move(keep)),
      folder_(process.rank ? fmt::format("rank{}", *process.rank) : fmt::format("pid{}", process.pid)) {}

std::string ProcessEvidence::proc(std::string_view name) const {
  return fmt::format("{}/proc/{}/{}", options_.root, process_.pid, name);
}

std::string ProcessEvidence::variable(std::string_view name) const {
  for (const auto& [key, value] : process_.environment) {
    if (key == name) return value;
  }
  return {};
}

// PyTorch appends the rank; the files lie in the mount namespace of the process.
std::string ProcessEvidence::dump_stem() const {
  for (const char* name : {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"}) {
    if (const auto stem = variable(name); !stem.empty()) return proc("root") + stem;
  }
  return proc("root") + "/tmp/nccl_trace_rank_";
}

void ProcessEvidence::trigger_flight_recorder() {
  if (!process_.rank) return;
  const auto stem = variable("TORCH_NCCL_DEBUG_INFO_PIPE_FILE");
  if (stem.empty()) return;
  const auto path = proc("root") + stem + std::to_string(*process_.rank) + ".pipe";
  auto record = record_of("flight_recorder_pipe", "");
  // Without a reader this fails at once (ENXIO); what is no pipe is not written to.
  const base::Fd fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  struct stat info{};
  if (!fd) {
    record.status = errno == EACCES ? Status::kRefused : Status::kMissing;
    record.detail = path + ": " + std::strerror(errno);
  } else if (::fstat(fd.get(), &info) != 0 || !S_ISFIFO(info.st_mode)) {
    record.status = Status::kRefused;
    record.detail = path + " is no pipe";
  } else if (::write(fd.get(), "1\n", 2) != 2) {
    record.status = Status::kFailed;
    record.detail = path + ": " + std::strerror(errno);
  } else {
    triggered_ns_ = kClock.now();
  }
  keep_(std::move(record), "", 0);
}

void ProcessEvidence::flight_recorder() {
  if (!process_.rank) return;
  const auto path = dump_stem() + std::to_string(*process_.rank);
  const auto until = std::min(options_.deadline, std::chrono::steady_clock::now() + options_.dump_wait);
  struct stat info{};
  std::int64_t modified = 0;
  off_t size = -1;
  while (true) {  // written when it is newer than the trigger and no longer grows
    const bool there = ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    modified = there ? info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec : 0;
    const bool fresh = triggered_ns_ == 0 || modified >= triggered_ns_;
    if (there && fresh && info.st_size == size) break;
    if (triggered_ns_ == 0 && !there) return;
    size = there && fresh ? info.st_size : -1;
    if (std::chrono::steady_clock::now() >= until) break;
    std::this_thread::sleep_for(milliseconds(100));
  }
  auto record = record_of("flight_recorder", file(fmt::format("nccl_trace_rank_{}", *process_.rank)));
  if (modified == 0) {
    record.file.clear();
    record.status = Status::kTimeout;
    record.detail = "the pipe took the request, no dump was written";
    return keep_(std::move(record), "", 0);
  }
  auto taken = run_item({"cat", path}, kFileDeadline, options_.max_dump, record);
  if (triggered_ns_ != 0 && modified < triggered_ns_) record.detail = "an older dump; the pipe brought no new one";
  keep_(std::move(record), std::move(taken), modified);
}

void ProcessEvidence::threads(bool& in_request) {
  std::string out;
  std::size_t told = 0;
  const auto record = record_of("threads", file("threads.proc.txt"));
  for (const int tid : numbers_in(proc("task"))) {
    const auto folder = proc(fmt::format("task/{}/", tid));
    const auto stat = read_small(folder + "stat");
    if (!stat) continue;
    const char state = state_of(*stat);
    in_request = in_request || state == 'D';
    if (told++ >= kMaxThreads) continue;
    const auto name = read_small(folder + "comm").value_or("");
    out += fmt::format("Name:\t{}\n{}\n", base::printable(base::trim(name)), state_line(state));
    const auto where = read_small(folder + "wchan").value_or("");
    if (!where.empty() && where != "0") out += fmt::format("wchan:\t{}\n", base::printable(where));
    out += fmt::format("==> /proc/{}/task/{}/stack <==\n", process_.pid, tid);
    out += read_small(folder + "stack").value_or("");
    out += '\n';
  }
  if (!out.empty()) keep_(record, std::move(out), kClock.now());
}

void ProcessEvidence::command(const char* item, const std::string& name, const std::vector<std::string>& argv,
                              std::chrono::milliseconds deadline, std::size_t max_bytes, bool scrub) {
  if (!time_left()) return;
  auto record = record_of(item, file(name));
  auto taken = run_item(argv, deadline, max_bytes, record);
  if (scrub) taken = without_secrets(taken);
  if (record.status == Status::kMissing) return;  // the tool is not installed
  keep_(std::move(record), std::move(taken), kClock.now());
}

void ProcessEvidence::stacks() {
  bool in_request = false;
  threads(in_request);
  if (in_request) {
    auto record = record_of("stacks", "");
    record.status = Status::kSkipped;
    record.detail = "a thread is in a device or storage request (state D): attaching could stop the process for good";
    return keep_(std::move(record), "", 0);
  }
  const auto pid = std::to_string(process_.pid);
  // --nonblocking reads without a pause.
  command("stacks_python", "stack.py-spy.txt", {"py-spy", "dump", "--nonblocking", "--pid", pid}, kStackDeadline,
          kStackBytes, true);
  command("stacks_native", "stack.eu-stack.txt", {"eu-stack", "-p", pid}, kStackDeadline, kStackBytes, false);
}

void ProcessEvidence::cgroup() {
  std::string out;
  for (const auto line : base::split(read_small(proc("cgroup")).value_or(""), '\n')) {
    const auto second = line.find(':', line.find(':') + 1);
    if (second == std::string_view::npos) continue;
    const auto kind = line.substr(line.find(':') + 1, second - line.find(':') - 1);
    const std::string path(line.substr(second + 1));
    if (path.find("..") != std::string::npos) continue;
    const auto base = options_.root + "/sys/fs/cgroup" + (kind.empty() ? "" : "/" + std::string(kind)) + path;
    for (const char* name : {"memory.events", "memory.max", "memory.current", "memory.failcnt", "memory.pressure",
                             "cpu.stat", "cpu.max", "pids.events", "io.pressure"}) {
      if (const auto text = read_small(base + "/" + name); text && !text->empty())
        out += fmt::format("==> {} <==\n{}", name, *text);
    }
  }
  if (!out.empty()) keep_(record_of("cgroup", file("cgroup.txt")), std::move(out), kClock.now());
}

void ProcessEvidence::settings() {
  if (auto text = allowed_environment(process_.environment); !text.empty())
    keep_(record_of("environment", file("env.txt")), std::move(text), kClock.now());
  for (const char* name : {"limits", "status"}) {
    if (auto text = read_small(proc(name)); text && !text->empty())
      keep_(record_of(name, file(std::string(name) + ".txt")), std::move(*text), kClock.now());
  }
  cgroup();
}

void ProcessEvidence::logs() {
  std::set<std::string> seen;
  for (const int fd : {1, 2}) {
    std::array<char, 4096> target;
    const auto link = proc(fmt::format("fd/{}", fd));
    const auto size = ::readlink(link.c_str(), target.data(), target.size());
    if (size <= 0 || target[0] != '/') continue;  // a pipe or a socket: the launcher has it
    const std::string path(target.data(), static_cast<std::size_t>(size));
    if (path.starts_with("/dev/") || !seen.insert(path).second) continue;
    const auto name = path.substr(path.rfind('/') + 1);
    command(
        "log",
        safe_name(name.ends_with(".log") || name.ends_with(".out") || name.ends_with(".err") ? name : name + ".log"),
        {"tail", "-c", std::to_string(options_.log_tail), "--", link}, kFileDeadline, options_.log_tail, true);
  }
}

}  // namespace holter::collect
