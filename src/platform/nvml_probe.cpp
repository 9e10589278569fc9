// SPDX-License-Identifier: Apache-2.0
#include "platform/nvml_probe.h"

#include <csignal>
#include <cstdio>

#include <dlfcn.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strings.h"

namespace holter::platform {

namespace {

// The entry points used, as documented in nvml.h (NVML API reference); 0 is NVML_SUCCESS.
using Init = int (*)();
using Count = int (*)(unsigned*);
using Driver = int (*)(char*, unsigned);

// Runs in the child: "devices driver" or "!reason".
std::string answer() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return "!libnvidia-ml.so.1 is not on the library path";
  const auto init = reinterpret_cast<Init>(dlsym(library, "nvmlInit_v2"));
  const auto count = reinterpret_cast<Count>(dlsym(library, "nvmlDeviceGetCount_v2"));
  const auto driver = reinterpret_cast<Driver>(dlsym(library, "nvmlSystemGetDriverVersion"));
  if (!init || !count || !driver) return "!libnvidia-ml.so.1 lacks a documented function";
  if (const int code = init(); code != 0) return "!nvmlInit_v2 returned " + std::to_string(code);
  unsigned devices = 0;
  if (const int code = count(&devices); code != 0) return "!nvmlDeviceGetCount_v2 returned " + std::to_string(code);
  char version[96] = "";
  driver(version, sizeof version);
  return std::to_string(devices) + " " + version;
}

// What the child wrote before it closed the pipe or the deadline passed; "" then.
std::string read_until(int fd, std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  std::string out;
  while (out.size() < 4096) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd waiting{fd, POLLIN, 0};
    if (left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) <= 0) return "";
    char buffer[256];
    const auto got = read(fd, buffer, sizeof buffer);
    if (got <= 0) return out;
    out.append(buffer, static_cast<std::size_t>(got));
  }
  return out;
}

}  // namespace

NvmlAnswer ask_nvml(std::chrono::milliseconds deadline) {
  int ends[2];
  if (pipe(ends) != 0) return {.driver = "", .error = "no pipe"};
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]), close(ends[1]);
    return {.driver = "", .error = "no process"};
  }
  if (child == 0) {
    const std::string text = answer();
    [[maybe_unused]] const auto written = write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  const std::string text = read_until(ends[0], deadline);
  close(ends[0]);
  // A child inside a stuck driver call cannot be waited for; it ends when the call does.
  kill(child, SIGKILL);
  waitpid(child, nullptr, text.empty() ? WNOHANG : 0);
  NvmlAnswer out;
  if (text.empty()) out.error = "no answer before the deadline";
  else if (text[0] == '!') out.error = text.substr(1);
  else {
    const auto words = base::split_blanks(text);
    out.devices = base::to_int<int>(words[0]).value_or(-1);
    if (words.size() > 1) out.driver = std::string(words[1]);
  }
  return out;
}

}  // namespace holter::platform
