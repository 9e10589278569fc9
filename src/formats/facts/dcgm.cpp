// SPDX-License-Identifier: Apache-2.0
// dcgmi diag and health tables. Diag: "| Targeted Stress | Fail - GPU: 3 |" is the fact dcgm.<test> with
// the GPU as subject where one is named. Health: "| -> 4 |" opens a GPU and "| -> Memory system | Failure |"
// below it is the fact dcgm_health.<system>; its text, wrapped over rows without a name, is dcgm_health.note.
#include <re2/re2.h>

#include "base/strings.h"
#include "formats/facts/quantity.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

bool is_result(std::string_view text) {
  const auto word = base::lower(text.substr(0, text.find_first_of(" -")));
  for (const std::string_view known : {"pass", "fail", "warn", "skip", "not", "healthy", "warning", "failure"}) {
    if (word == known) return true;
  }
  return false;
}

class Dcgm final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto body = base::trim(line);
    if (body.starts_with("+--") || body.starts_with("|--") || body.starts_with("+==") || body.starts_with("|==")) {
      close_note(facts);
      return true;
    }
    if (body.size() < 4 || body.front() != '|' || body.back() != '|') return false;
    if (body.find("Health Monitor Report") != std::string_view::npos) {
      health_ = true;
      gpu_.clear();
      return true;
    }
    const auto cells = base::split(body.substr(1, body.size() - 2), '|');
    if (cells.size() != 2) return false;
    const auto name = base::trim(cells[0]), result = base::trim(cells[1]);
    if (health_) health(name, result, facts);
    else diag(name, result, facts);
    return true;
  }

 private:
  static constexpr std::size_t kMaxNote = 600;

  static void diag(std::string_view name, std::string_view result, FactWriter& facts) {
    if (result.empty() || name.empty()) return;
    if (!is_result(result)) {
      if (name == "Warning" || name == "Error") facts.add("dcgm.note", result);
      return;
    }
    static const re2::RE2 gpu(R"((?i)GPU:? ?(\d+))");
    std::string index;
    re2::RE2::PartialMatch(re2::StringPiece(result.data(), result.size()), gpu, &index);
    facts.add("dcgm." + key_of(name), result, index);
  }

  void health(std::string_view name, std::string_view result, FactWriter& facts) {
    if (name.empty()) {
      if (note_.size() + result.size() < kMaxNote) note_ += (note_.empty() ? "" : " ") + std::string(result);
      return;
    }
    close_note(facts);
    if (name.starts_with("->")) name = base::trim(name.substr(2));
    if (base::to_int<int>(name)) gpu_ = std::string(name);
    else if (is_result(result)) facts.add("dcgm_health." + key_of(name), result, gpu_);
  }
  void close_note(FactWriter& facts) {
    if (!note_.empty()) facts.add("dcgm_health.note", note_, gpu_).has_number = false;
    note_.clear();
  }

  bool health_ = false;
  std::string gpu_;
  std::string note_;  // of the system above it
};

}  // namespace

std::unique_ptr<Recogniser> make_dcgm() { return std::make_unique<Dcgm>(); }

}  // namespace holter::formats::facts
