// SPDX-License-Identifier: Apache-2.0
#include "formats/logs/signature_set.h"

#include <algorithm>
#include <map>

#include "formats/logs/pattern.h"

namespace holter::formats::logs {

namespace {
// Shorter literals are not required ones: they would stop the search at every other line.
constexpr int kMinAtom = 5;
// Longer literals are not common in ordinary lines.
constexpr std::size_t kMaxCommon = 16;
}  // namespace

SignatureSet::SignatureSet(const model::Rules& rules) : filtered_(std::make_unique<re2::FilteredRE2>(kMinAtom)) {
  for (const auto& signature : rules.signatures) {
    for (const auto& pattern : signature.patterns) {
      int id = 0;
      if (filtered_->Add(pattern, pattern_options(), &id) != re2::RE2::NoError) {
        errors_.push_back("signature '" + signature.id + "': the pattern does not compile: " + pattern);
        continue;
      }
      of_pattern_.push_back(&signature);
    }
  }
  filtered_->Compile(&atoms_);
  std::vector<text::Prefilter::Literal> literals;
  for (const auto& atom : atoms_) literals.push_back({atom, 1});
  prefilter_ = std::make_unique<text::Prefilter>(std::move(literals));
  choose_triggers();
}

// A pattern like "checkpoint.*corrupt" requires two atoms, and one of them is enough to stop at. Common
// ones are left out as long as no pattern could match a text that holds nothing else.
void SignatureSet::choose_triggers() {
  std::vector<int> common, left_out;
  const auto size = [&](int atom) { return atoms_[static_cast<std::size_t>(atom)].size(); };
  for (int i = 0; i < static_cast<int>(atoms_.size()); ++i) {
    if (size(i) <= kMaxCommon) common.push_back(i);
  }
  std::stable_sort(common.begin(), common.end(), [&](int a, int b) { return size(a) < size(b); });
  // Halves: most of the short atoms can go, so that few have to be tried alone.
  std::vector<std::vector<int>> tries{common};
  while (!tries.empty()) {
    auto part = std::move(tries.back());
    tries.pop_back();
    auto together = left_out;
    together.insert(together.end(), part.begin(), part.end());
    std::sort(together.begin(), together.end());
    if (!required(together)) {
      left_out = std::move(together);
    } else if (part.size() > 1) {
      const auto middle = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
      tries.emplace_back(middle, part.end());
      tries.emplace_back(part.begin(), middle);
    }
  }
  for (int i = 0; i < static_cast<int>(atoms_.size()); ++i) {
    if (!std::binary_search(left_out.begin(), left_out.end(), i)) {
      triggers_.push_back(atoms_[static_cast<std::size_t>(i)]);
    }
  }
}

// Whether some pattern could match a text that holds these atoms and no other.
bool SignatureSet::required(const std::vector<int>& atoms) const {
  std::vector<int> patterns;
  filtered_->AllPotentials(atoms, &patterns);
  return !patterns.empty();
}

std::vector<SignatureSet::Match> SignatureSet::match(std::string_view text) const {
  std::vector<int> atoms;
  prefilter_->for_each(text, [&](const text::Prefilter::Hit& hit) { atoms.push_back(static_cast<int>(hit.literal)); });
  if (atoms.empty()) return {};
  std::sort(atoms.begin(), atoms.end());
  atoms.erase(std::unique(atoms.begin(), atoms.end()), atoms.end());
  std::vector<int> candidates;
  filtered_->AllPotentials(atoms, &candidates);
  std::sort(candidates.begin(), candidates.end());

  std::vector<Match> matches;
  for (const int id : candidates) {
    const auto* signature = of_pattern_[static_cast<std::size_t>(id)];
    if (!matches.empty() && matches.back().signature == signature) continue;  // another pattern of it
    const auto& re = filtered_->GetRE2(id);
    std::vector<re2::StringPiece> groups(static_cast<std::size_t>(re.NumberOfCapturingGroups()) + 1);
    if (!re.Match(text, 0, text.size(), re2::RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()))) continue;
    Match match{signature, {}};
    for (const auto& [index, name] : re.CapturingGroupNames()) {
      const auto& group = groups[static_cast<std::size_t>(index)];
      if (!group.empty()) match.fields.emplace_back(name, std::string(group.data(), group.size()));
    }
    matches.push_back(std::move(match));
  }
  return matches;
}

std::vector<std::string> SignatureSet::unfiltered() const {
  std::vector<int> always;
  filtered_->AllPotentials({}, &always);
  std::vector<std::string> ids;
  for (const int id : always) ids.push_back(of_pattern_[static_cast<std::size_t>(id)]->id);
  return ids;
}

}  // namespace holter::formats::logs
