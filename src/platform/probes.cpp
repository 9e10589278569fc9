// SPDX-License-Identifier: Apache-2.0
#include "platform/probes.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/strings.h"
#include "platform/nvml_probe.h"

namespace holter::platform {

namespace fs = std::filesystem;

namespace {

// linux/capability.h
constexpr int kCapSysPtrace = 19;
constexpr int kCapSyslog = 34;
constexpr int kRasPort = 28028;  // NCCL's default

class Checks {
 public:
  explicit Checks(const Host& host) : host_(host) {}

  std::vector<Probe> run() {
    ptrace();
    kernel_log();
    tool("stacks.py-spy", "read Python stacks", "py-spy", "install py-spy, or collect faulthandler stacks");
    tool("stacks.gdb", "read native stacks", "gdb", "install gdb or elfutils (eu-stack)");
    tool("stacks.eu-stack", "read native stacks quickly", "eu-stack", "install elfutils");
    nvml();
    tool("gpu.nvidia-smi", "save a GPU report (nvidia-smi -q)", "nvidia-smi", "install the driver's utilities package");
    infiniband();
    ras();
    dumps();
    tool("scheduler.slurm", "ask Slurm about a job", "squeue", "run on a host with the Slurm client, or give its logs");
    tool("scheduler.kubernetes", "ask Kubernetes about a pod", "kubectl",
         "install kubectl, or give its logs and events");
    return std::move(out_);
  }

 private:
  std::string below(std::string_view path) const { return (fs::path(host_.root) / path).string(); }

  std::optional<std::string> first_line(std::string_view path) const {
    std::ifstream in(below(path));
    std::string line;
    if (!std::getline(in, line)) return std::nullopt;
    return line;
  }

  bool capable(int capability) const {
    std::ifstream in(below("proc/self/status"));
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("CapEff:")) continue;
      const auto mask = base::to_int<std::uint64_t>(base::trim(std::string_view(line).substr(7)), 16);
      return mask && (*mask >> capability & 1) != 0;
    }
    return false;
  }

  std::string variable(const char* name) const {
    const char* text = host_.env ? host_.env(name) : nullptr;
    return text ? text : "";
  }

  void add(std::string name, std::string what, State state, std::string detail, std::string hint) {
    out_.push_back(
        {std::move(name), std::move(what), state, std::move(detail), state == State::kYes ? "" : std::move(hint)});
  }

  // Documentation/admin-guide/LSM/Yama.rst of the kernel: 0 same user, 1 descendants, 2 admin, 3 never.
  void ptrace() {
    const auto scope = first_line("proc/sys/kernel/yama/ptrace_scope").value_or("0");
    const bool cap = capable(kCapSysPtrace);
    const State state = scope == "3" ? State::kNo : cap ? State::kYes : scope == "0" ? State::kLimited : State::kNo;
    add("stacks.ptrace", "read stacks of running processes", state,
        fmt::format("ptrace_scope {}, CAP_SYS_PTRACE {}", scope, cap ? "present" : "absent"),
        scope == "3" ? "ptrace_scope 3 holds until reboot; use in-process dumps (faulthandler, Flight Recorder)"
                     : "run as root, or docker run --cap-add=SYS_PTRACE, or in the pod: securityContext: "
                       "{capabilities: {add: [SYS_PTRACE]}}; without it only processes of the same user");
  }

  void kernel_log() {
    const bool cap = capable(kCapSyslog);
    const bool open = first_line("proc/sys/kernel/dmesg_restrict").value_or("0") == "0";
    const bool device = ::access(below("dev/kmsg").c_str(), R_OK) == 0;
    add("kernel.log", "read kernel messages (Xid, OOM killer, file system errors)",
        device && (cap || open) ? State::kYes : State::kNo,
        fmt::format("/dev/kmsg {}, dmesg_restrict {}, CAP_SYSLOG {}", device ? "readable" : "not readable",
                    open ? 0 : 1, cap ? "present" : "absent"),
        "run dmesg -T on the host as root and give the file, or add CAP_SYSLOG and mount /dev/kmsg");
  }

  void tool(std::string name, std::string what, const char* program, std::string hint) {
    const std::string folders = variable("PATH");
    for (const auto folder : base::split(folders, ':')) {
      const auto path =
          folder.empty() ? std::string() : below(fs::path(folder).relative_path().string() + "/" + program);
      if (!path.empty() && ::access(path.c_str(), X_OK) == 0) {
        return add(std::move(name), std::move(what), State::kYes, fmt::format("{}/{}", folder, program), "");
      }
    }
    add(std::move(name), std::move(what), State::kNo, fmt::format("{} is not on PATH", program), std::move(hint));
  }

  void nvml() {
    if (!host_.live) return;
    const auto answer = ask_nvml(std::chrono::seconds(5));
    const bool good = answer.devices > 0;
    add("gpu.nvml", "ask the GPUs (NVML)", good ? State::kYes : State::kNo,
        good                   ? fmt::format("{} GPUs, driver {}", answer.devices, answer.driver)
        : answer.error.empty() ? "no GPU found"
                               : answer.error,
        "install the NVIDIA driver, or in a container use the NVIDIA runtime with the utility capability");
  }

  void infiniband() {
    std::error_code error;
    std::size_t ports = 0;
    for (fs::directory_iterator at(below("sys/class/infiniband"), error), end; !error && at != end;
         at.increment(error)) {
      ++ports;
    }
    add("network.infiniband", "read InfiniBand and RoCE counters", ports ? State::kYes : State::kNo,
        ports ? fmt::format("{} devices in /sys/class/infiniband", ports) : "no device in /sys/class/infiniband",
        "nothing to do when the job uses Ethernet only");
  }

  // NCCL_RAS_ADDR is host:port of the listener of a running job.
  void ras() {
    if (!host_.live) return;
    const std::string address = variable("NCCL_RAS_ADDR");
    const auto colon = address.rfind(':');
    const int port = base::to_int<int>(std::string_view(address).substr(colon == std::string::npos ? 0 : colon + 1))
                         .value_or(kRasPort);
    const bool good = port > 0 && port < 65536 && listens(static_cast<std::uint16_t>(port));
    add("nccl.ras", "ask a running NCCL job (ncclras)", good ? State::kYes : State::kNo,
        fmt::format("127.0.0.1:{} {}", port, good ? "answers" : "does not answer"),
        "run it on a host of a running job with NCCL 2.24 or later and NCCL_RAS_ENABLE not 0");
  }

  static bool listens(std::uint16_t port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool good = ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    if (!good && errno == EINPROGRESS) {
      pollfd waiting{fd, POLLOUT, 0};
      int error = 1;
      socklen_t size = sizeof error;
      good = ::poll(&waiting, 1, 1000) == 1 && ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
    }
    ::close(fd);
    return good;
  }

  // Where PyTorch writes Flight Recorder dumps: the two variables, then its defaults, newest first.
  void dumps() {
    std::string prefix = variable("TORCH_FR_DUMP_TEMP_FILE");
    if (prefix.empty()) prefix = variable("TORCH_NCCL_DEBUG_INFO_TEMP_FILE");
    std::vector<std::string> candidates{prefix};
    if (prefix.empty()) {
      const std::string cache =
          variable("XDG_CACHE_HOME").empty() ? variable("HOME") + "/.cache" : variable("XDG_CACHE_HOME");
      candidates = {cache + "/torch/comm_lib_trace_rank_", "/tmp/nccl_trace_rank_"};
    }
    for (const auto& candidate : candidates) {
      const std::size_t count = files_with_prefix(candidate);
      if (count > 0) {
        return add("dumps.flight-recorder", "find Flight Recorder dumps", State::kYes,
                   fmt::format("{} files {}*", count, candidate), "");
      }
    }
    add("dumps.flight-recorder", "find Flight Recorder dumps", State::kLimited,
        fmt::format("no file {}*", candidates[0]),
        "they appear after a timeout when TORCH_NCCL_TRACE_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1; "
        "on a cluster they are on each host");
  }

  std::size_t files_with_prefix(const std::string& prefix) const {
    const fs::path path = below(fs::path(prefix).relative_path().string());
    std::error_code error;
    std::size_t count = 0;
    for (fs::directory_iterator at(path.parent_path(), error), end; !error && at != end; at.increment(error)) {
      if (at->path().filename().string().starts_with(path.filename().string())) ++count;
    }
    return count;
  }

  const Host& host_;
  std::vector<Probe> out_;
};

}  // namespace

const char* to_string(State state) {
  return state == State::kYes ? "yes" : state == State::kLimited ? "limited" : "no";
}

std::vector<Probe> probe_host(const Host& host) { return Checks(host).run(); }

}  // namespace holter::platform
