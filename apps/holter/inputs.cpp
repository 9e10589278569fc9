// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "base/log.h"

namespace holter::app {

using base::Code;
using base::fail;

base::Result<bool> Inputs::prepare(const std::vector<std::string>& arguments) {
  bool used_stdin = false;
  for (const auto& path : arguments) {
    if (path == "-") {
      if (std::exchange(used_stdin, true))
        return fail(Code::kInvalid, "'-' is there twice; standard input is read once");
      if (::isatty(STDIN_FILENO) == 1)
        return fail(Code::kInvalid, "standard input is the keyboard; pipe a log into it");
      paths_.push_back(path);
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

}  // namespace holter::app
