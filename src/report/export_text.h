// SPDX-License-Identifier: Apache-2.0
// Texts of an export as they may be shown. Scrubbing costs far more than writing, and an export says
// the same few names very often: each distinct text is scrubbed once.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/strings.h"
#include "model/evidence.h"
#include "report/escape.h"
#include "report/export.h"

namespace holter::report {

class ExportText {
 public:
  explicit ExportText(const ExportInput& input) : input_(input) {}

  // Bounded, and one printable line. The view holds until the next call.
  std::string_view operator()(std::string_view text) {
    if (!input_.show) return bounded_ = clean(text);
    if (shown_.size() > kRemembered) shown_.clear();
    const auto [it, is_new] = shown_.try_emplace(std::string(text));
    if (is_new) it->second = clean(input_.show(text));
    return it->second;
  }
  std::string_view operator()(model::StrId id) { return (*this)(input_.evidence.text(id)); }
  // "path:line" or "path record 7".
  std::string place(const model::SourceRef& at) {
    if (value(at.file) >= input_.evidence.files.size()) return "";
    std::string out((*this)(input_.evidence.files[value(at.file)].path));
    if (at.kind == model::PosKind::kLine) out += ":" + std::to_string(at.pos);
    if (at.kind == model::PosKind::kRecord) out += " record " + std::to_string(at.pos);
    if (at.kind == model::PosKind::kOffset) out += " offset " + std::to_string(at.pos);
    return out;
  }

 private:
  static constexpr std::size_t kBytes = 400;
  static constexpr std::size_t kRemembered = 100'000;
  static std::string clean(std::string_view text) { return base::ellipsize(one_line(text), kBytes); }

  const ExportInput& input_;
  std::unordered_map<std::string, std::string> shown_;
  std::string bounded_;
};

}  // namespace holter::report
