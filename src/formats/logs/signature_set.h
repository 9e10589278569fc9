// SPDX-License-Identifier: Apache-2.0
// All patterns of rules/signatures, compiled once: a line is tried only against the patterns whose
// required literals it holds.
//
// Immutable after construction and usable from several threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <re2/filtered_re2.h>

#include "formats/text/prefilter.h"
#include "model/rules.h"

namespace holter::formats::logs {

class SignatureSet {
 public:
  struct Match {
    const model::Signature* signature = nullptr;
    std::vector<std::pair<std::string, std::string>> fields;  // named groups that took part
  };

  // Keeps pointers into `rules`. Patterns that do not compile are left out and named in errors().
  explicit SignatureSet(const model::Rules& rules);

  // Every signature that the text matches, in the order of the rules.
  std::vector<Match> match(std::string_view text) const;
  // Literals of which every match holds at least one, as rare ones as there are.
  const std::vector<std::string>& triggers() const { return triggers_; }
  // Signatures with a pattern so loose that no literal is required; such a pattern is never tried.
  std::vector<std::string> unfiltered() const;
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  void choose_triggers();
  bool required(const std::vector<int>& atoms) const;

  std::unique_ptr<re2::FilteredRE2> filtered_;
  std::vector<const model::Signature*> of_pattern_;
  std::vector<std::string> atoms_;  // literals that patterns require, in any combination
  std::vector<std::string> triggers_;
  std::vector<std::string> errors_;
  std::unique_ptr<text::Prefilter> prefilter_;
};

}  // namespace holter::formats::logs
