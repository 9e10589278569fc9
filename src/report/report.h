// SPDX-License-Identifier: Apache-2.0
// One Report, several renderers. Pure functions; output is escaped for its medium.
#pragma once

#include <string>

#include "model/evidence.h"
#include "model/report.h"
#include "model/rules.h"

namespace holter::report {

struct TextOptions {
  bool full = false;  // everything, not only the first screen
  bool colour = false;
  bool unicode = false;  // box characters and arrows
  int width = 80;
};

std::string to_text(const model::Report& report, const TextOptions& options);
std::string to_json(const model::Report& report);  // holter.report/1
std::string to_markdown(const model::Report& report);
std::string to_html(const model::Report& report);  // one self-contained file

}  // namespace holter::report
