// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/fact_writer.h"

#include <array>

#include "base/strings.h"
#include "formats/facts/quantity.h"

namespace holter::formats::facts {

namespace {
constexpr std::size_t kMaxText = 400;
constexpr std::size_t kMaxValue = 1000;
constexpr std::string_view kMasked = "(masked)";
}  // namespace

bool is_secret_name(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kWords{
      "secret", "passw", "token", "credential", "api_key", "apikey", "access_key", "private_key", "auth", "cookie"};
  // Counts and settings of tokens in the language-model sense are no secrets.
  static constexpr std::array<std::string_view, 7> kHarmless{"tokens",    "tokenizer", "token_id",    "author",
                                                             "max_token", "token_len", "token_budget"};
  const std::string n = base::lower(name);
  for (const auto word : kHarmless) {
    if (n.find(word) != std::string::npos) return false;
  }
  for (const auto word : kWords) {
    if (n.find(word) != std::string::npos) return true;
  }
  return false;
}

void FactWriter::at_line(const text::Line& line) {
  at_ = text::at(line, context_);
  node_ = line.node;
  rank_ = line.rank;
  context_text_ = model::StrId::kEmpty;
  body_ = base::trim(line.body);
  masked_ = false;
}

model::Fact& FactWriter::add(std::string_view key, std::string_view value, std::string_view subject) {
  model::Fact f;
  f.at = at_;
  f.node = node_;
  f.subject = out_.intern(base::ellipsize(subject, kMaxText));
  f.key = out_.intern(base::ellipsize(key, kMaxText));
  f.context = context_text_;
  f.rank = rank_;
  if (is_secret_name(key) && !value.empty()) {
    masked_ = true;
    value = kMasked;
  }
  f.value = out_.intern(base::ellipsize(base::trim(value), kMaxValue));
  if (const auto number = leading_number(base::trim(value))) {
    f.number = *number;
    f.has_number = true;
  }
  f.text = masked_ ? out_.intern(std::string(key) + "=" + std::string(kMasked))
                   : out_.intern(base::ellipsize(body_, kMaxText));
  out_.facts.push_back(f);
  ++added_;
  return out_.facts.back();
}

model::Fact& FactWriter::add(std::string_view key, double number, std::string_view value, std::string_view subject) {
  auto& f = add(key, value, subject);
  f.number = number;
  f.has_number = true;
  return f;
}

}  // namespace holter::formats::facts
