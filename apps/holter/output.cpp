// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "base/log.h"
#include "command.h"

namespace holter::app {

namespace fs = std::filesystem;
using base::Code;

namespace {

base::Result<bool> write_stream(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (!file) return base::fail(Code::kUnavailable, path + ": " + std::strerror(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int write_error = errno;
  if (std::fclose(file) == 0 && written) return true;
  return base::fail(Code::kUnavailable, path + ": " + std::strerror(written ? errno : write_error));
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
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return write_stream(path, text);
  const std::string part = path + ".part" + std::to_string(::getpid());
  auto written = write_stream(part, text);
  if (written && std::rename(part.c_str(), path.c_str()) != 0) {
    written = base::fail(Code::kUnavailable, path + ": " + std::strerror(errno));
  }
  if (!written) std::remove(part.c_str());
  return written;
}

}  // namespace holter::app
