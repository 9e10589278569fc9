// SPDX-License-Identifier: Apache-2.0
#include "collect/find_targets.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/host_name.h"
#include "base/strings.h"
#include "platform/run_program.h"

namespace holter::collect {

namespace {

constexpr std::chrono::milliseconds kDeadline{20'000};

// A job id, an array task or a component: "88123", "88123_4", "88123+1".
bool is_job_id(const std::string& job) {
  return !job.empty() && job.size() < 40 && job.front() >= '0' && job.front() <= '9' &&
         job.find_first_not_of("0123456789_+.") == std::string::npos;
}

base::Result<std::string> ask(const std::vector<std::string>& argv) {
  auto r = platform::run_program(argv, {.deadline = kDeadline, .max_output = std::size_t{4} << 20});
  using End = platform::RunResult::End;
  if (r.ok()) return std::move(r.output);
  if (r.end == End::kNotFound)
    return base::fail(base::Code::kUnavailable,
                      argv[0] + " is not installed here; run this where the job is submitted");
  if (r.end == End::kTimedOut) return base::fail(base::Code::kUnavailable, argv[0] + " did not answer within 20 s");
  return base::fail(base::Code::kNotFound,
                    fmt::format("{}: {}", argv[0], base::ellipsize(base::printable(base::trim(r.error)), 200)));
}

}  // namespace

base::Result<std::vector<Target>> slurm_targets(const std::string& job) {
  if (!is_job_id(job)) return base::fail(base::Code::kInvalid, "'" + base::printable(job) + "' is no Slurm job id");
  HOLTER_TRY(const auto nodes,
             ask({"squeue", "--noheader", "--jobs", job, "--states=running,suspended,completing", "--format=%N"}));
  const auto list = base::trim(std::string_view(nodes).substr(0, nodes.find('\n')));
  if (list.empty())
    return base::fail(base::Code::kNotFound,
                      "Slurm job " + job + " has no nodes: it does not run (squeue -j " + job + ")");
  HOLTER_TRY(const auto names, ask({"scontrol", "show", "hostnames", std::string(list)}));
  HOLTER_TRY(const auto hosts, parse_hosts(names));
  std::vector<Target> out;
  for (const auto& host : hosts) out.push_back(over_srun(job, host));
  return out;
}

base::Result<std::vector<Target>> kubernetes_targets(const std::string& where, const std::string& container) {
  const auto slash = where.find('/');
  const auto ns = where.substr(0, slash);
  if (slash == std::string::npos || !base::is_safe_host_name(ns) || slash + 1 == where.size() ||
      where[slash + 1] == '-')
    return base::fail(base::Code::kInvalid, "--k8s takes NAMESPACE/SELECTOR, as in train/app=pretrain-7");
  auto selector = where.substr(slash + 1);
  std::vector<std::string> argv{"kubectl",
                                "get",
                                "pods",
                                "--namespace",
                                ns,
                                "--output",
                                "jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}"};
  if (selector.starts_with("pod/")) {
    selector = selector.substr(4);
    if (!base::is_safe_host_name(selector))
      return base::fail(base::Code::kInvalid, "'" + base::printable(selector) + "' is no pod");
    return std::vector<Target>{over_kubectl(ns, selector, container)};
  }
  argv.push_back("--selector=" + selector);
  argv.push_back("--field-selector=status.phase=Running");
  HOLTER_TRY(const auto names, ask(argv));
  const auto pods = parse_hosts(names);
  if (!pods) return base::fail(base::Code::kNotFound, "no running pod matches " + where);
  std::vector<Target> out;
  for (const auto& pod : *pods) out.push_back(over_kubectl(ns, pod, container));
  return out;
}

base::Result<SlurmJob> slurm_job(const std::string& job) {
  if (!is_job_id(job)) return base::fail(base::Code::kInvalid, "no Slurm job id");
  HOLTER_TRY(auto text, ask({"scontrol", "--details", "show", "job", job}));
  SlurmJob out{.description = std::move(text), .logs = {}};
  for (const auto line : base::split(out.description, '\n')) {
    const auto field = base::trim(line);
    for (const std::string_view key : {"StdOut=/", "StdErr=/"}) {
      if (!field.starts_with(key)) continue;
      std::string path(field.substr(key.size() - 1));
      if (std::find(out.logs.begin(), out.logs.end(), path) == out.logs.end()) out.logs.push_back(std::move(path));
    }
  }
  return out;
}

}  // namespace holter::collect
