// SPDX-License-Identifier: Apache-2.0
// The PATH arguments of a command, checked before anything is read.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace holter::app {

class Inputs {
 public:
  // A path that does not exist is an error (a slip of the pen must not become a report without it);
  // one that may not be read is said, left out and remembered. "-" is standard input.
  base::Result<bool> prepare(const std::vector<std::string>& arguments);

  const std::vector<std::string>& paths() const { return paths_; }
  bool refused() const { return refused_; }

 private:
  std::vector<std::string> paths_;
  bool refused_ = false;
};

}  // namespace holter::app
