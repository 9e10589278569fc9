// SPDX-License-Identifier: Apache-2.0
// What the commands that read a job's files share: the PATH arguments, checked before anything is
// read, the options of reading, and the evidence itself.
#pragma once

#include <string>
#include <vector>

#include "base/flags.h"
#include "base/result.h"
#include "model/evidence.h"
#include "model/rules.h"

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

// "PATH...", and the options that come with it: --share, --rules, --jobs.
base::flags::Positional input_paths();
std::vector<base::flags::Flag> input_flags();

struct Material {
  model::Rules rules;
  Inputs inputs;
  model::Evidence evidence;
};
// Reads everything that the command line names. On failure says why and returns kUsage.
int read_material(const base::flags::Parsed& parsed, Material& out);

}  // namespace holter::app
