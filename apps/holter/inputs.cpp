// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "base/log.h"

namespace holter::app {

namespace fs = std::filesystem;
using base::Code;
using base::fail;

Inputs::~Inputs() {
  std::error_code ignored;
  if (!spool_folder_.empty()) fs::remove_all(spool_folder_, ignored);
}

base::Result<bool> Inputs::prepare(const std::vector<std::string>& arguments) {
  bool used_stdin = false;
  for (const auto& path : arguments) {
    if (path == "-") {
      if (std::exchange(used_stdin, true)) return fail(Code::kInvalid, "'-' is there twice; standard input is read once");
      HOLTER_TRY(paths_.emplace_back(), spool_stdin());
      continue;
    }
    if (::access(path.c_str(), R_OK) == 0) {
      paths_.push_back(path);
    } else if (errno == EACCES) {
      base::log::error("may not read {}", path);
      refused_ = true;
    } else {
      return fail(Code::kNotFound, path + ": " + std::strerror(errno));
    }
  }
  if (paths_.empty()) return fail(Code::kPermission, "none of the paths may be read by this user");
  return true;
}

// Readers look at the beginning of an input before they read it, so a pipe is kept in a file.
base::Result<std::string> Inputs::spool_stdin() {
  if (::isatty(STDIN_FILENO) == 1) return fail(Code::kInvalid, "standard input is the keyboard; pipe a log into it");
  std::string folder = (fs::temp_directory_path() / "holter-stdin-XXXXXX").string();
  if (!::mkdtemp(folder.data())) return fail(Code::kUnavailable, folder + ": " + std::strerror(errno));
  spool_folder_ = folder;
  const std::string path = folder + "/standard-input";
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (!file) return fail(Code::kUnavailable, path + ": " + std::strerror(errno));
  std::vector<char> buffer(1 << 16);
  bool good = true;
  while (good) {
    const auto got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      good = got == 0;
      break;
    }
    good = std::fwrite(buffer.data(), 1, static_cast<std::size_t>(got), file) == static_cast<std::size_t>(got);
  }
  good = std::fclose(file) == 0 && good;
  if (!good) return fail(Code::kUnavailable, std::string("cannot keep standard input: ") + std::strerror(errno));
  return path;
}

}  // namespace holter::app
