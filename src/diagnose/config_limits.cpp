// SPDX-License-Identifier: Apache-2.0
// Limits of the process or host: locked memory, shared memory, disk, CPU quota; and the look-alike
// where locked memory is unlimited (a kernel regression).
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

constexpr double kMiB = 1024.0 * 1024;
constexpr double kLowMemlockKb = 1024.0 * 1024;  // registered buffers of one rank alone exceed 1 GiB

constexpr std::string_view kRegisterFailed =
    R"((ibv_reg_mr|ibv_reg_dmabuf|ibv_create_(qp|cq)|reg_mr|mlock|cudaHostRegister)\w*.*(Cannot allocate memory|ENOMEM|errno 12|error 12\b)|Cannot allocate memory.*ibv_)";

bool is_login(const EvidenceView& view, const model::Fact& f) {
  return view.text(f.context).find("login") != std::string_view::npos ||
         view.text(f.context).find("ssh") != std::string_view::npos;
}

std::string host_list(const std::set<std::string>& hosts) {
  std::string out;
  for (const auto& h : hosts) out += (out.empty() ? "" : ", ") + h;
  return out;
}

void kernel_regression(const EvidenceView& view, const std::vector<model::Citation>& failed,
                       const std::vector<const model::Fact*>& limits, Output& out) {
  std::set<std::string> kernels;
  for (const auto* k : view.facts("host.kernel")) kernels.insert(view.value(*k));
  const Experiment* older = nullptr;
  for (const auto& e : view.experiments()) {
    if (e.good && (e.condition.find("kernel") != std::string::npos ||
                   e.condition.find("-generic") != std::string::npos || e.condition.find(".el") != std::string::npos))
      older = &e;
  }
  const bool two = kernels.size() > 1;
  auto f = make_finding(
      {"kernel_regression", model::VerdictKind::kInit, model::Owner::kVendor,
       older ? 0.85
       : two ? 0.72
             : 0.6},
      fmt::format("Memory registration fails with ENOMEM although locked memory is "
                  "unlimited: a regression of the operating system kernel{}{}",
                  kernels.empty() ? "" : " " + host_list(kernels), two ? " (the hosts run different kernels)" : ""));
  append(f.evidence, failed);
  for (const auto* l : limits) {
    if (f.evidence.size() < 4) f.evidence.push_back(view.cite(*l, "locked memory is not limited"));
  }
  for (const auto* k : view.facts("host.kernel")) {
    if (f.evidence.size() < 7) f.evidence.push_back(view.cite(*k, "kernel release"));
  }
  if (older) f.evidence.push_back(older->citation);
  add_named(f, model::CulpritKind::kSoftware, "kernel " + host_list(kernels));
  add_action(f,
             "Boot the previous kernel on one node and run again; if it works, pin that kernel and report "
             "the regression",
             "uname -r; dmesg | tail");
  f.explains_causes = {"memlock_limit", "rank_crashed", "data_path_stall"};
  out.ruled_out.push_back({"memlock_limit", "the limit of locked memory is unlimited where the job runs", {}});
  out.findings.push_back(std::move(f));
}

void memlock(const EvidenceView& view, Output& out) {
  const auto failed = view.lines(kRegisterFailed, "registering memory failed with ENOMEM", 2);
  std::vector<const model::Fact*> low, high;
  for (const auto* f : view.facts("limit.memlock_kb")) {
    if (is_login(view, *f)) continue;
    (f->number < kLowMemlockKb ? low : high).push_back(f);
  }
  if (low.empty()) {
    if (!failed.empty() && !high.empty()) kernel_regression(view, failed, high, out);
    return;
  }
  if (failed.empty() && !view.says("ibv_|NET/IB|mlx5|RDMA|libibverbs")) return;
  std::set<std::string> hosts;
  for (const auto* f : low) {
    if (!view.node(*f).empty()) hosts.insert(view.node(*f));
  }
  const auto context = std::string(view.text(low[0]->context));
  auto f = make_finding(
      {"memlock_limit", model::VerdictKind::kConfig, model::Owner::kPlatform, failed.empty() ? 0.45 : 0.9},
      fmt::format("The locked-memory limit (ulimit -l) is {:.0f} kB{}{}: registering RDMA memory {}", low[0]->number,
                  context.empty() ? " for the job" : " " + context, hosts.empty() ? "" : " on " + host_list(hosts),
                  failed.empty() ? "may fail" : "fails with ENOMEM"));
  for (const auto* l : low) {
    if (f.evidence.size() < 3) f.evidence.push_back(view.cite(*l, "the limit where the job runs"));
  }
  append(f.evidence, failed);
  for (const auto* l : view.facts("limit.memlock_kb")) {
    if (is_login(view, *l)) f.evidence.push_back(view.cite(*l, "another limit outside the job"));
  }
  f.kind = failed.empty() ? model::VerdictKind::kConfig : model::VerdictKind::kInit;
  add_named(f, model::CulpritKind::kConfig, fmt::format("memlock limit {:.0f} kB {}", low[0]->number, context));
  for (const auto& h : hosts) add_node(f, h);
  add_action(f,
             "Raise memlock to unlimited for the daemon that starts the job steps (slurmd, kubelet or the "
             "container runtime) and restart the daemon",
             "systemctl edit slurmd  # [Service] LimitMEMLOCK=infinity; then: systemctl restart slurmd");
  f.explains_causes = {"rank_crashed", "first_failure_elsewhere", "data_path_stall", "kernel_regression", "unknown"};
  for (const auto* m : view.facts("mem.memavailable_kb")) {
    out.ruled_out.push_back({"host_oom_kill", "host memory is available", {view.cite(*m, "available memory")}});
    break;
  }
  out.findings.push_back(std::move(f));
}

void shared_memory(const EvidenceView& view, Output& out) {
  const auto failed = view.lines(
      R"(/dev/shm.*(No space left|too small|failed to extend|Bus error|not enough)|(No space left|failed to extend|insufficient).*(/dev/shm|shared memory)|DataLoader worker.*(bus error|insufficient shared memory)|unable to (open|mmap|allocate) shared memory|out of shared memory)",
      "shared memory ran out", 2);
  const model::Fact* size = nullptr;
  const model::Fact* use = nullptr;
  for (const auto* f : view.facts("disk.size_bytes")) {
    if (view.text(f->subject) == "/dev/shm") size = f;
  }
  for (const auto* f : view.facts("disk.use_pct")) {
    if (view.text(f->subject) == "/dev/shm") use = f;
  }
  const bool small = size && size->number <= 1024 * kMiB;
  const bool full = use && use->number >= 90;
  if (failed.empty() && !(small && full)) return;
  auto f = make_finding({"shm_size", model::VerdictKind::kConfig, model::Owner::kPlatform,
                         !failed.empty() && size ? 0.92
                         : !failed.empty()       ? 0.8
                                                 : 0.6},
                        fmt::format("Shared memory (/dev/shm) is too small{}{}{}",
                                    size ? fmt::format(": {:.0f} MiB", size->number / kMiB) : "",
                                    use ? fmt::format(", {:.0f}% used", use->number) : "",
                                    size && !view.node(*size).empty() ? " on " + view.node(*size) : ""));
  append(f.evidence, failed);
  if (size) f.evidence.push_back(view.cite(*size, "size and use of /dev/shm"));
  f.kind = model::VerdictKind::kInit;
  add_named(f, model::CulpritKind::kConfig, "/dev/shm size");
  if (size) add_node(f, view.node(*size));
  add_action(f,
             "Give the container more shared memory: docker --shm-size=16g or --ipc=host; in Kubernetes an "
             "emptyDir with medium: Memory on /dev/shm",
             "df -h /dev/shm");
  f.explains_causes = {"rank_crashed", "dataloader_deadlock", "disk_full", "first_failure_elsewhere",
                       "data_path_stall"};
  out.findings.push_back(std::move(f));
}

void disk(const EvidenceView& view, Output& out) {
  const auto failed = view.lines(R"(No space left on device|ENOSPC|errno 28\b|Disk quota exceeded)",
                                 "a write failed for want of space", 2);
  for (const char* key : {"disk.use_pct", "disk.inode_use_pct"}) {
    for (const auto* f : view.facts(key)) {
      const auto mount = std::string(view.text(f->subject));
      if (f->number < 99 || mount == "/dev/shm" || mount.starts_with("/boot") || mount.starts_with("/snap")) continue;
      const bool inodes = std::string_view(key) == "disk.inode_use_pct";
      const bool shm_only = !failed.empty() && failed[0].text.find("/dev/shm") != std::string::npos;
      auto finding = make_finding(
          {"disk_full", model::VerdictKind::kExternal, model::Owner::kStorage,
           !failed.empty() && !shm_only ? 0.92 : 0.5},
          fmt::format("{}{} is full: {:.0f}% of its {} used", view.node(*f).empty() ? "" : view.node(*f) + ": ", mount,
                      f->number, inodes ? "inodes" : "space"));
      finding.aside = failed.empty() || shm_only;  // full, and nobody was seen to fail for it
      finding.evidence.push_back(view.cite(*f, "no room left"));
      append(finding.evidence, failed);
      add_node(finding, view.node(*f));
      if (finding.culprits.empty()) add_named(finding, model::CulpritKind::kConfig, mount);
      add_action(finding, "Free space on " + mount + " (old checkpoints, core files, caches) or write elsewhere",
                 "du -xh --max-depth=2 " + mount + " | sort -h | tail");
      finding.explains_causes = {"rank_crashed", "checkpoint_stall", "first_failure_elsewhere"};
      out.findings.push_back(std::move(finding));
    }
  }
}

void cpu_quota(const EvidenceView& view, Output& out) {
  const auto periods = view.facts("cgroup.nr_periods"), throttled = view.facts("cgroup.nr_throttled");
  if (periods.empty() || throttled.empty() || periods[0]->number <= 0) return;
  const double share = throttled.back()->number / periods.back()->number;
  if (share < 0.1) return;
  auto f = make_finding(
      {"cpu_throttled_cgroup", model::VerdictKind::kSlow, model::Owner::kPlatform, share > 0.3 ? 0.8 : 0.6},
      fmt::format("The CPU quota throttles the process{}: {:.0f}% of the scheduling periods ({:.0f} of {:.0f})",
                  view.node(*throttled.back()).empty() ? "" : " on " + view.node(*throttled.back()), share * 100,
                  throttled.back()->number, periods.back()->number));
  f.evidence = {view.cite(*throttled.back(), "throttled periods"), view.cite(*periods.back(), "all periods")};
  append(f.evidence, view.lines(R"(throttled_(usec|time)|cpu\.max|cpu[ _]?limit)", "the quota", 2));
  add_node(f, view.node(*throttled.back()));
  if (f.culprits.empty()) add_named(f, model::CulpritKind::kConfig, "CPU limit of the container");
  add_action(f,
             "Raise or remove the CPU limit of the container (keep the request); give each GPU process at "
             "least 8 cores",
             "cat /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu.stat");
  f.explains_causes = {"straggler", "host_stuck"};
  out.findings.push_back(std::move(f));
}

}  // namespace

void diagnose_limits(const EvidenceView& view, Output& out) {
  memlock(view, out);
  shared_memory(view, out);
  disk(view, out);
  cpu_quota(view, out);
}

}  // namespace holter::diagnose
