// SPDX-License-Identifier: Apache-2.0
// dcgmi diag and health tables: "| Targeted Stress | Fail - GPU: 3 |". Facts dcgm.<test> with the result
// as value and the GPU as subject where one is named.
#include <re2/re2.h>

#include "base/strings.h"
#include "formats/facts/quantity.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

class Dcgm final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto body = base::trim(line);
    if (body.starts_with("+--") || body.starts_with("|--") || body.starts_with("+==") || body.starts_with("|=="))
      return true;
    if (body.size() < 4 || body.front() != '|' || body.back() != '|') return false;
    const auto cells = base::split(body.substr(1, body.size() - 2), '|');
    if (cells.size() != 2) return false;
    const auto name = base::trim(cells[0]), result = base::trim(cells[1]);
    if (result.empty() || name.empty()) return true;
    const auto word = base::lower(result.substr(0, result.find_first_of(" -")));
    if (word != "pass" && word != "fail" && word != "warn" && word != "skip" && word != "not" && word != "healthy" &&
        word != "warning" && word != "failure") {
      if (name == "Warning" || name == "Error") facts.add("dcgm.note", result);
      return true;
    }
    static const re2::RE2 gpu(R"((?i)GPU:? ?(\d+))");
    std::string index;
    re2::RE2::PartialMatch(re2::StringPiece(result.data(), result.size()), gpu, &index);
    facts.add("dcgm." + key_of(name), result, index);
    return true;
  }
};

}  // namespace

std::unique_ptr<Recogniser> make_dcgm() { return std::make_unique<Dcgm>(); }

}  // namespace holter::formats::facts
