// SPDX-License-Identifier: Apache-2.0
// The platform around the job: fabric manager, driver versions, containers that lost their devices,
// profiling locks, health policies, duplicate devices, clocks, differences between hosts.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

using model::Owner;
using model::VerdictKind;

std::string on_node(const EvidenceView& view, const model::Fact& f) {
  return view.node(f).empty() ? "" : " on " + view.node(f);
}

void fabric_manager(const EvidenceView& view, Output& out) {
  const model::Fact* state = nullptr;
  for (const auto* f : view.facts("service.state")) {
    if (base::contains_ignore_case(view.text(f->subject), "fabricmanager") &&
        !view.text(f->value).starts_with("active"))
      state = f;
  }
  const model::Fact* fabric = nullptr;
  for (const auto* f : view.facts("smi.fabric.state")) {
    if (view.text(f->value) != "Completed" && view.text(f->value) != "N/A") fabric = f;
  }
  auto errors = view.lines(
      R"(system not yet initialized|cudaErrorSystemNotReady|CUDA error:? 802|error 802|fabric manager.*(not running|failed|version|mismatch|stopped|restarted)|fabricmanager.*(fail|mismatch|exited|inactive|dead|not running)|Unable to (bind|add).*(multicast|NVLS)|ncclNvls.*fail)",
      "the fabric is not ready", 3);
  std::set<std::string> manager, driver;
  for (const auto* f : view.under("version.")) {
    const auto key = view.text(f->key);
    if (key.find("fabric") != std::string_view::npos)
      manager.insert(view.value(*f).substr(0, view.value(*f).find('-')));
    if (key == "version.driver" || key == "version.kernel_module") driver.insert(view.value(*f));
  }
  const bool mismatch = manager.size() == 1 && driver.size() == 1 && *manager.begin() != *driver.begin();
  if (!state && !fabric && !mismatch) return;
  if (!state && !mismatch && errors.empty()) return;
  const double confidence = (state || mismatch) && !errors.empty() ? 0.9 : state || mismatch ? 0.72 : 0.62;
  auto f = make_finding({"fabric_manager", VerdictKind::kInit, Owner::kPlatform, confidence}, "");
  if (mismatch)
    f.title = fmt::format("Fabric Manager {} does not match the driver {}: the NVSwitch fabric is not set up",
                          *manager.begin(), *driver.begin());
  else if (state)
    f.title = fmt::format("Fabric Manager is {}{}: the NVSwitch fabric is not set up", view.value(*state),
                          on_node(view, *state));
  else f.title = fmt::format("The NVSwitch fabric is in state {}{}", view.value(*fabric), on_node(view, *fabric));
  if (state) f.evidence.push_back(view.cite(*state, "state of the service")), add_node(f, view.node(*state));
  if (fabric) f.evidence.push_back(view.cite(*fabric, "fabric state of the GPU")), add_node(f, view.node(*fabric));
  for (const auto* v : view.under("version.")) {
    if (mismatch && f.evidence.size() < 5) f.evidence.push_back(view.cite(*v, "version"));
  }
  append(f.evidence, std::move(errors));
  if (f.culprits.empty()) add_named(f, model::CulpritKind::kConfig, "nvidia-fabricmanager");
  add_action(f,
             "Install the Fabric Manager of exactly the driver's version, start it, then reset the GPUs (or "
             "reboot) so that they join the fabric",
             "systemctl restart nvidia-fabricmanager; nvidia-smi -q | grep -A3 Fabric");
  f.explains_causes = {"nvls_slots", "rank_crashed", "unknown"};
  out.findings.push_back(std::move(f));
}

void driver_skew(const EvidenceView& view, Output& out) {
  auto lines =
      view.lines(R"(Driver/library version mismatch|API mismatch: the client has the version|NVRM: API mismatch)",
                 "library and kernel module differ", 3);
  std::set<std::string> versions;
  for (const char* key : {"version.kernel_module", "version.nvml_library", "version.client_library"}) {
    for (const auto* f : view.facts(key)) versions.insert(view.value(*f));
  }
  if (lines.empty() && versions.size() < 2) return;
  std::string list;
  for (const auto& v : versions) list += (list.empty() ? "" : " and ") + v;
  auto f = make_finding({"driver_version_skew", VerdictKind::kConfig, Owner::kPlatform, lines.empty() ? 0.6 : 0.9},
                        fmt::format("The NVIDIA user library and the loaded kernel module have different versions{}",
                                    list.empty() ? "" : ": " + list));
  f.evidence = std::move(lines);
  for (const char* key : {"version.kernel_module", "version.nvml_library", "version.client_library"}) {
    for (const auto* v : view.facts(key)) {
      if (f.evidence.size() < 5) f.evidence.push_back(view.cite(*v, "a version"));
      add_node(f, view.node(*v));
    }
  }
  append(f.evidence, view.lines(R"(unattended-upgrade|apt|upgraded? .*nvidia|nvidia.*upgrade)",
                                "an upgrade replaced the library", 2));
  if (f.culprits.empty()) add_named(f, model::CulpritKind::kSoftware, "NVIDIA driver packages");
  add_action(f,
             "Drain the node and reboot, or unload and reload the nvidia modules; hold the driver packages "
             "so that unattended upgrades cannot replace them",
             "cat /proc/driver/nvidia/version; apt-mark hold 'nvidia-*' 'libnvidia-*'");
  f.explains_causes = {"gpu_fell_off_bus", "cgroup_device_loss", "rank_crashed", "cuda_driver_incompatible"};
  out.findings.push_back(std::move(f));
}

void cgroup_loss(const EvidenceView& view, Output& out) {
  auto lines = view.lines(
      R"(Failed to initialize NVML: Unknown Error|NVML.*Unknown Error|no CUDA-capable device is detected|CUDA unknown error)",
      "the container cannot open the device", 2);
  auto reload = view.lines(R"(daemon-reload|Reloading\.|systemctl reload|Reloaded|runc update|cgroup.*device)",
                           "systemd rewrote the device rules of the container", 2);
  if (lines.empty() || reload.empty() || view.says(R"(Xid \(PCI|fallen off the bus)")) return;
  auto f = make_finding({"cgroup_device_loss", VerdictKind::kConfig, Owner::kPlatform, 0.84},
                        "The container lost access to its GPUs when systemd reloaded (device cgroup rules "
                        "were rewritten); the GPU itself is there");
  f.evidence = std::move(lines);
  append(f.evidence, std::move(reload));
  append(f.evidence, view.lines(R"(^GPU \d+: )", "the host still sees the GPU", 1));
  add_named(f, model::CulpritKind::kConfig, "container device rules (systemd cgroup driver)");
  add_action(f,
             "Restart the container; then pass the devices through CDI or create the /dev/char links, so "
             "that a daemon-reload keeps them",
             "nvidia-ctk system create-dev-char-symlinks --create-all");
  f.explains_causes = {"gpu_fell_off_bus", "driver_version_skew"};
  out.ruled_out.push_back({"gpu_fell_off_bus", "no Xid and the host lists the GPU", {}});
  out.findings.push_back(std::move(f));
}

void profiling_lock(const EvidenceView& view, Output& out) {
  auto locked = view.lines(
      R"(profiling (module|is paused|lock)|ERR_NVGPUCTRPERM|DCGM_ST_PROFILING_\w+|profiler.*(in use|busy|locked|holds)|\b(nsys|ncu|nsight-\w+|dcgmproftester|cupti)\b.*(running|pid|holds|profile)|Profiling module returned|resource.*already in use by.*(profil|client))",
      "another profiler holds the counters", 3);
  if (locked.empty()) return;
  auto zero = view.lines(
      R"(DCGM_FI_PROF_\w+(\{[^}]*\})? 0(\.0+)?$|PROF.*\b0(\.0*)?\b|(sm_active|tensor_active|dram_active)\D{1,4}0(\.0*)?\b)",
      "profiling metrics read zero", 2);
  auto f =
      make_finding({"profiling_lock", VerdictKind::kConfig, Owner::kPlatform, zero.empty() ? 0.6 : 0.82},
                   "Profiling counters are locked by another tool: the profiling metrics are zero while the GPU works");
  f.evidence = std::move(locked);
  append(f.evidence, std::move(zero));
  add_named(f, model::CulpritKind::kProcess, "profiler that holds the counters");
  add_action(f,
             "Stop the other profiler, or pause DCGM profiling while it runs; do not alert on DCGM_FI_PROF "
             "metrics meanwhile",
             "dcgmi profile --pause; dcgmi profile --resume");
  out.findings.push_back(std::move(f));
}

void health_policy(const EvidenceView& view, Output& out) {
  auto lines = view.lines(
      R"(XidCriticalError|marking (device|GPU).*unhealthy|device .* (marked|is) unhealthy|Unhealthy.*(GPU-|nvidia\.com)|nvidia\.com/gpu.*(unhealthy|allocatable))",
      "the device plug-in removed the GPU", 3);
  if (lines.empty() ||
      view.says(R"(Xid \(PCI:[^)]*\): (48|63|64|74|79|94|95|119|120)\b|Xid=(48|63|64|74|79|94|95|119|120)\b)"))
    return;
  auto f = make_finding({"k8s_health_policy", VerdictKind::kConfig, Owner::kPlatform, 0.78},
                        "The health policy of the device plug-in removed a good GPU: the Xid is an "
                        "application's and no hardware counter supports it");
  f.evidence = std::move(lines);
  append(f.evidence, view.lines(R"(Xid)", "the Xid behind it", 2));
  add_named(f, model::CulpritKind::kConfig, "device plug-in health check");
  add_action(f,
             "Restart the device plug-in to return the device, exclude application Xids from its health "
             "check, and fix the application fault",
             "DP_DISABLE_HEALTHCHECKS=13,31,43,45,68");
  f.explains_causes = {"gpu_hw_degraded", "gpu_fell_off_bus"};
  out.findings.push_back(std::move(f));
}

void duplicate_device(const EvidenceView& view, Output& out) {
  auto lines = view.lines(R"(Duplicate GPU detected|invalid device ordinal|same (CUDA )?device|both on CUDA device)",
                          "two ranks on one device, or a device that does not exist", 3);
  if (lines.empty()) return;
  auto f = make_finding({"device_mapping", VerdictKind::kConfig, Owner::kUserCode, 0.88},
                        "Wrong device mapping: " + base::ellipsize(lines[0].text, 140));
  f.evidence = std::move(lines);
  for (const auto* v : view.settings("VISIBLE_DEVICES|LOCAL_RANK|gpus.per|ntasks")) {
    if (f.evidence.size() < 6) f.evidence.push_back(view.cite(*v, "device visibility"));
  }
  add_named(f, model::CulpritKind::kConfig, "CUDA_VISIBLE_DEVICES and local rank");
  add_action(f,
             "Call torch.cuda.set_device(local_rank) before the first collective and give each local rank "
             "its own device (LOCAL_RANK, CUDA_VISIBLE_DEVICES, --gpus-per-task)");
  f.explains_causes = {"rank_crashed", "double_init"};
  out.findings.push_back(std::move(f));
}

void incompatible_driver(const EvidenceView& view, Output& out) {
  auto lines = view.lines(
      R"(CUDA driver version is insufficient for CUDA runtime|The NVIDIA driver on your system is too old|forward compatibility was attempted on non supported|unsupported PTX|provided PTX was compiled with an unsupported toolchain)",
      "the driver is older than the runtime needs", 2);
  if (lines.empty()) return;
  auto f = make_finding({"cuda_driver_incompatible", VerdictKind::kInit, Owner::kPlatform, 0.9},
                        "The CUDA runtime is newer than the driver supports");
  f.evidence = std::move(lines);
  for (const auto* v : view.facts("version.driver"))
    f.evidence.push_back(view.cite(*v, "driver")),
        f.title += fmt::format(" (driver {}{})", view.value(*v), on_node(view, *v)), add_node(f, view.node(*v));
  if (f.culprits.empty()) add_named(f, model::CulpritKind::kSoftware, "NVIDIA driver");
  add_action(f,
             "Upgrade the driver of the node, or use a build for its CUDA version (or the compat package on "
             "data-centre GPUs)",
             "nvidia-smi | head -4");
  f.restart = model::Restart::kNo;
  f.explains_causes = {"rank_crashed", "import_or_env_mismatch"};
  out.findings.push_back(std::move(f));
}

}  // namespace

void diagnose_platform_config(const EvidenceView& view, Output& out) {
  fabric_manager(view, out);
  driver_skew(view, out);
  cgroup_loss(view, out);
  profiling_lock(view, out);
  health_policy(view, out);
  duplicate_device(view, out);
  incompatible_driver(view, out);
}

// One fact that is the same on most hosts and different on one or few (facts: incidents 4, rule 8).
void diagnose_host_differences(const EvidenceView& view, Output& out) {
  std::map<std::string, std::map<std::string, std::vector<const model::Fact*>>> by_key;  // key -> value -> facts
  for (const auto& f : view.context().evidence.facts) {
    const auto key = view.text(f.key);
    if (!(key.starts_with("env.") || key.starts_with("version.") || key == "host.kernel")) continue;
    const auto name = key.substr(key.find('.') + 1);
    static constexpr std::string_view kOwn[] = {"HOSTNAME",
                                                "SLURMD_NODENAME",
                                                "SLURM_NODEID",
                                                "NODE_RANK",
                                                "RANK",
                                                "LOCAL_RANK",
                                                "SLURM_PROCID",
                                                "SLURM_LOCALID",
                                                "CUDA_VISIBLE_DEVICES",
                                                "PWD",
                                                "OLDPWD",
                                                "SSH_CONNECTION",
                                                "HOST_IP",
                                                "POD_NAME",
                                                "POD_IP",
                                                "GROUP_RANK"};
    if (std::find(std::begin(kOwn), std::end(kOwn), name) != std::end(kOwn) || view.node(f).empty() ||
        view.text(f.value) == "(masked)")
      continue;
    by_key[std::string(key)][view.value(f)].push_back(&f);
  }
  std::size_t reported = 0;
  for (const auto& [key, values] : by_key) {
    if (values.size() < 2 || reported >= 3) continue;
    std::map<std::string, std::set<std::string>> hosts_of;
    std::set<std::string> hosts;
    for (const auto& [value, facts] : values) {
      for (const auto* f : facts) hosts_of[value].insert(view.node(*f)), hosts.insert(view.node(*f));
    }
    if (hosts.size() < 2) continue;
    const auto fewest = std::min_element(values.begin(), values.end(), [&](const auto& a, const auto& b) {
      return hosts_of[a.first].size() < hosts_of[b.first].size();
    });
    const auto most = std::max_element(values.begin(), values.end(), [&](const auto& a, const auto& b) {
      return hosts_of[a.first].size() < hosts_of[b.first].size();
    });
    const bool env = key.starts_with("env.");
    const bool matters = key.find("NCCL") != std::string::npos || key.find("CUDA") != std::string::npos ||
                         key.find("TORCH") != std::string::npos || key.find("UCX") != std::string::npos ||
                         key.find("GLOO") != std::string::npos || !env;
    const std::string name = key.substr(key.find('.') + 1);
    const std::string who = *hosts_of[fewest->first].begin();
    const bool even = hosts_of[fewest->first].size() == hosts_of[most->first].size();
    const bool package = key.starts_with("version.") && name != "driver" && name != "kernel_module" && name != "cuda";
    const auto cause = name.find("nccl") != std::string::npos ? "nccl_version_mismatch"
                       : env || key == "host.kernel"          ? "env_differs_between_hosts"
                       : package                              ? "import_or_env_mismatch"
                                                              : "driver_version_skew";
    auto f = make_finding({cause, VerdictKind::kConfig, Owner::kPlatform, matters ? (even ? 0.42 : 0.55) : 0.3},
                          fmt::format("{} differs between hosts: {} on {}{} against {} on {}", name,
                                      fewest->first.empty() ? "unset" : fewest->first, who,
                                      hosts_of[fewest->first].size() > 1 ? " and others" : "", most->first,
                                      *hosts_of[most->first].begin()));
    f.depth = model::Depth::kMechanism;
    f.evidence = {view.cite(*fewest->second[0], "the odd one"), view.cite(*most->second[0], "on the other hosts")};
    for (const auto& h : hosts_of[fewest->first]) {
      if (f.culprits.size() < 8) add_node(f, h);
    }
    add_action(f, fmt::format("Make {} equal on all hosts and run again", name));
    out.findings.push_back(std::move(f));
    ++reported;
  }
}

}  // namespace holter::diagnose
