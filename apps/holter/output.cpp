// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>

#include <unistd.h>

#include "base/log.h"
#include "command.h"

namespace holter::app {

namespace fs = std::filesystem;
using base::Code;

namespace {

using Produce = std::function<void(const Take&)>;

// Opened with the first piece. False: there was none, and nothing has been touched. Errors name `shown`.
base::Result<bool> write_stream(const std::string& path, const std::string& shown, const Produce& produce) {
  std::FILE* file = nullptr;
  int error = 0;
  produce([&](std::string_view text) {
    if (error == 0 && !file && !(file = std::fopen(path.c_str(), "wbe"))) error = errno;
    if (error == 0 && std::fwrite(text.data(), 1, text.size(), file) != text.size()) error = errno;
  });
  if (file && std::fclose(file) != 0 && error == 0) error = errno;
  if (error == 0) return file != nullptr;
  return base::fail(Code::kUnavailable, shown + ": " + std::strerror(error));
}

// While it lives, a signal that ends the program removes the file first. One at a time.
class RemovedBySignal {
 public:
  explicit RemovedBySignal(const std::string& path) {
    if (path.size() >= sizeof path_) return;
    path.copy(path_, path.size());
    path_[path.size()] = '\0';
    for (std::size_t i = 0; i < std::size(kSignals); ++i) {
      ::sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;  // nohup
      struct sigaction action{};
      action.sa_handler = remove_and_end;
      action.sa_flags = static_cast<int>(SA_RESETHAND);
      ::sigaction(kSignals[i], &action, nullptr);
    }
    armed_ = true;
  }
  ~RemovedBySignal() {
    for (std::size_t i = 0; armed_ && i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  RemovedBySignal(const RemovedBySignal&) = delete;
  RemovedBySignal& operator=(const RemovedBySignal&) = delete;

 private:
  static constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM};
  static void remove_and_end(int signal) {  // async-signal-safe
    ::unlink(path_);
    ::raise(signal);  // the handler is reset: ends the program when this one returns
  }
  inline static char path_[4096];
  bool armed_ = false;
  struct sigaction before_[std::size(kSignals)];
};

base::Result<bool> replace_file(const std::string& path, const Produce& produce) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return write_stream(path, path, produce);
  const std::string part = path + ".part" + std::to_string(::getpid());
  const RemovedBySignal guard(part);
  auto written = write_stream(part, path, produce);
  if (written && *written && std::rename(part.c_str(), path.c_str()) != 0) {
    written = base::fail(Code::kUnavailable, path + ": " + std::strerror(errno));
  }
  if (!written) std::remove(part.c_str());
  return written;
}

}  // namespace

int write_data(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return kOk;
  if (errno == EPIPE) {  // the parent ignores SIGPIPE, so that it did not end us
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  base::log::error("cannot write to standard output: {}", std::strerror(errno));
  return kUnavailable;
}

base::Result<bool> write_file(const std::string& path, std::string_view text) {
  return replace_file(path, [&](const Take& take) { take(text); });
}

int stream_output(const std::string& path, const Produce& produce) {
  if (path.empty()) {
    int status = kOk;  // the first failure is said once and ends the writing
    produce([&](std::string_view text) {
      if (status == kOk) status = write_data(text);
    });
    return status;
  }
  const auto written = replace_file(path, produce);
  if (written) return kOk;
  base::log::error("cannot write the output: {}", written.error().to_string());
  return kUnavailable;
}

}  // namespace holter::app
