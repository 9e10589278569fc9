// SPDX-License-Identifier: Apache-2.0
#include "diagnose_command.h"

#include <cstdio>

#include "diagnose/diagnose.h"
#include "evidence/read.h"
#include "formats/rules/rules.h"
#include "report/report.h"

namespace holter::app {

int diagnose_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> paths;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "-o") ++i;
    else paths.push_back(arguments[i]);
  }
  const auto& rules = formats::rules::builtin();
  const auto evidence = evidence::read(paths, rules, {});
  if (!evidence) return 2;
  std::puts(report::to_json(diagnose::diagnose(*evidence, rules)).c_str());
  return 0;
}

}  // namespace holter::app
