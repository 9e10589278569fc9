// SPDX-License-Identifier: Apache-2.0
// Excerpts of source code that stand beside the stacks ("run.py.excerpt": "198  trainer.save(...)").
// Each numbered line is a Fact: key "source.line", subject the file, number the line, value the code
// with its indentation. Only in files named after a Python file; code is kept as text, never run.
#include "base/strings.h"
#include "formats/stacks/parsers.h"

namespace holter::formats::stacks {

namespace {

constexpr std::size_t kMaxLines = 20'000;

class SourceParser final : public text::LineParser {
 public:
  std::vector<std::string_view> triggers() const override { return {}; }
  bool wants_all() const override { return state_ != State::kOther; }

  void on_line(const text::Line& line, FileContext context, model::Evidence& out) override {
    if (state_ == State::kUnknown) decide(context);
    if (state_ != State::kSource || count_ >= kMaxLines) return;
    auto code = line.raw;
    const auto start = code.find_first_not_of(" \t>*");
    if (start == std::string_view::npos) return;
    code.remove_prefix(start);
    const auto digits = std::min(code.find_first_not_of("0123456789"), code.size());
    const auto number = base::to_int<std::uint32_t>(code.substr(0, digits));
    if (!number) return;
    code.remove_prefix(digits);
    if (!code.empty() && (code.front() == ':' || code.front() == '|' || code.front() == '-')) code.remove_prefix(1);
    model::Fact fact;
    fact.at = text::at(line, context);
    fact.key = out.intern("source.line");
    fact.subject = out.intern(file_);
    fact.value = out.intern(base::ellipsize(code, 400));
    fact.text = out.intern(base::ellipsize(base::trim(line.raw), 400));
    fact.number = *number;
    fact.has_number = true;
    out.facts.push_back(fact);
    ++count_;
  }

 private:
  enum class State { kUnknown, kSource, kOther };

  void decide(FileContext context) {
    const std::string_view path = context.file->path;
    const auto at = path.rfind(".py");
    const auto end = at == std::string_view::npos ? at : at + 3;
    // "a.py", "a.py.excerpt", not "rank0.pyspy.txt".
    const bool source = at != std::string_view::npos && (end == path.size() || path[end] == '.' || path[end] == ':');
    state_ = source ? State::kSource : State::kOther;
    if (source) file_ = path.substr(0, end);
  }

  State state_ = State::kUnknown;
  std::string file_;
  std::size_t count_ = 0;
};

}  // namespace

std::unique_ptr<text::LineParser> make_source_parser() { return std::make_unique<SourceParser>(); }

}  // namespace holter::formats::stacks
