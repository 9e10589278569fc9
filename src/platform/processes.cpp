// SPDX-License-Identifier: Apache-2.0
#include "platform/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/fd.h"
#include "base/strings.h"

namespace holter::platform {

namespace {

constexpr std::size_t kMaxEnvironment = std::size_t{1} << 20;
constexpr std::size_t kMaxCommand = 400;
constexpr std::size_t kMaxProcesses = 100'000;

// Files in /proc have no size; at most `limit` bytes.
std::optional<std::string> read_file(const std::string& path, std::size_t limit) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return std::nullopt;
  std::string out;
  std::array<char, 65536> buffer;
  while (out.size() < limit) {
    const auto got = ::read(fd.get(), buffer.data(), std::min(buffer.size(), limit - out.size()));
    if (got <= 0) break;
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return out;
}

template <typename Use>
void for_each_name(const std::string& folder, Use use) {
  DIR* dir = ::opendir(folder.c_str());
  if (dir == nullptr) return;
  std::size_t seen = 0;
  while (const dirent* entry = ::readdir(dir)) {
    if (seen++ >= kMaxProcesses) break;
    if (entry->d_name[0] != '.') use(std::string_view(entry->d_name));
  }
  ::closedir(dir);
}

std::vector<std::pair<std::string, std::string>> environment_of(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto entry : base::split(text, '\0')) {
    const auto eq = entry.find('=');
    if (eq != std::string_view::npos && eq > 0) out.emplace_back(entry.substr(0, eq), entry.substr(eq + 1));
  }
  return out;
}

std::string_view value_of(const JobProcess& p, std::string_view name) {
  for (const auto& [key, value] : p.environment) {
    if (key == name) return value;
  }
  return {};
}

// A rank alone may be anybody's variable; with a partner it is a launcher's.
std::optional<std::int32_t> rank_of(const JobProcess& p) {
  struct Pair {
    const char *rank, *partner;
  };
  for (const auto& [rank, partner] : {Pair{"RANK", "WORLD_SIZE"}, Pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                      Pair{"PMIX_RANK", "PMIX_NAMESPACE"}, Pair{"SLURM_PROCID", "SLURM_NTASKS"}}) {
    if (value_of(p, partner).empty()) continue;
    const auto value = base::to_int<std::int32_t>(value_of(p, rank));
    if (value && *value >= 0) return value;
  }
  return std::nullopt;
}

bool has_device(const std::string& folder) {
  bool found = false;
  for_each_name(folder + "/fd", [&](std::string_view name) {
    if (found) return;
    std::array<char, 256> target;
    const auto size = ::readlink((folder + "/fd/" + std::string(name)).c_str(), target.data(), target.size());
    if (size <= 0) return;
    const std::string_view path(target.data(), static_cast<std::size_t>(size));
    const bool numbered = path.starts_with("/dev/nvidia") && path.size() > 11 && path[11] >= '0' && path[11] <= '9';
    found = numbered || path == "/dev/kfd" || path.starts_with("/dev/davinci");
  });
  return found;
}

// Seconds since 1970 at which this machine booted; 0: not known.
std::int64_t boot_time(const std::string& proc) {
  const auto text = read_file(proc + "/stat", std::size_t{1} << 20).value_or("");
  const auto at = text.find("\nbtime ");
  if (at == std::string::npos) return 0;
  const auto line = std::string_view(text).substr(at + 7);
  return base::to_int<std::int64_t>(line.substr(0, line.find('\n'))).value_or(0);
}

// State and start of proc_pid_stat(5): fields 3 and 22, after the name in parentheses, which may hold anything.
void read_stat(const std::string& folder, std::int64_t booted, JobProcess& process) {
  constexpr std::size_t kStart = 22 - 3;
  const auto stat = read_file(folder + "/stat", 4096).value_or("");
  const auto end = stat.rfind(") ");
  if (end == std::string::npos || end + 2 >= stat.size()) return;
  process.state = stat[end + 2];
  const auto fields = base::split_blanks(std::string_view(stat).substr(end + 2));
  const auto ticks = fields.size() > kStart ? base::to_int<std::int64_t>(fields[kStart]) : std::nullopt;
  const auto rate = ::sysconf(_SC_CLK_TCK);
  if (ticks && booted > 0 && rate > 0) process.started_ns = booted * 1'000'000'000 + *ticks * (1'000'000'000 / rate);
}

struct Candidate {
  JobProcess process;
  bool device = false;
};

// Of the processes with one rank of one job, the one that works: workers inherit the environment of their parent.
void keep_workers_out(std::vector<Candidate>& all) {
  std::map<std::pair<std::string, std::int32_t>, const Candidate*> best;
  const auto key = [](const Candidate& c) {
    return std::pair(std::string(value_of(c.process, "SLURM_JOB_ID")) + "/" +
                         std::string(value_of(c.process, "TORCHELASTIC_RUN_ID")),
                     *c.process.rank);
  };
  for (const auto& c : all) {
    if (!c.process.rank) continue;
    auto& held = best[key(c)];
    if (held == nullptr || (c.device && !held->device)) held = &c;
  }
  std::vector<int> pids;
  for (const auto& [rank, c] : best) pids.push_back(c->process.pid);
  std::erase_if(all, [&](const Candidate& c) {
    return c.process.rank && std::find(pids.begin(), pids.end(), c.process.pid) == pids.end();
  });
}

}  // namespace

std::vector<JobProcess> find_job_processes(const std::string& root, const ProcessFilter& filter,
                                           std::size_t* unreadable) {
  const std::string proc = root + "/proc";
  std::vector<int> pids;
  for_each_name(proc, [&](std::string_view name) {
    if (const auto pid = base::to_int<int>(name)) pids.push_back(*pid);
  });
  std::sort(pids.begin(), pids.end());  // parents before their workers
  const auto booted = boot_time(proc);
  std::vector<Candidate> found;
  for (const int pid : pids) {
    const std::string folder = proc + "/" + std::to_string(pid);
    const auto environment = read_file(folder + "/environ", kMaxEnvironment);
    if (!environment) {
      // Threads of the kernel have no command.
      if (unreadable && !read_file(folder + "/cmdline", 1).value_or("").empty()) ++*unreadable;
      continue;
    }
    Candidate c;
    c.process.pid = pid;
    c.process.environment = environment_of(*environment);
    c.process.rank = rank_of(c.process);
    c.device = has_device(folder);
    if (!c.process.rank && !c.device) continue;
    if (!filter.slurm_job.empty() && value_of(c.process, "SLURM_JOB_ID") != filter.slurm_job) continue;
    auto command = read_file(folder + "/cmdline", kMaxCommand).value_or("");
    std::replace(command.begin(), command.end(), '\0', ' ');
    c.process.command = base::printable(base::trim(command));
    read_stat(folder, booted, c.process);
    found.push_back(std::move(c));
  }
  keep_workers_out(found);
  std::vector<JobProcess> out;
  for (auto& c : found) out.push_back(std::move(c.process));
  return out;
}

}  // namespace holter::platform
