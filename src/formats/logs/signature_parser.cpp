// SPDX-License-Identifier: Apache-2.0
#include "formats/logs/signature_parser.h"

#include <map>
#include <tuple>

#include "base/strings.h"
#include "formats/logs/pattern.h"
#include "formats/text/stance.h"

namespace holter::formats::logs {

namespace {

using text::Line;

constexpr std::uint32_t kSingle = 16;
constexpr std::size_t kMaxKinds = 200'000;  // of (signature, rank) in one file
constexpr std::size_t kMatched = 4096;      // bytes of a line that are tried

class SignatureParser final : public text::LineParser {
 public:
  explicit SignatureParser(std::shared_ptr<const SignatureSet> set) : set_(std::move(set)) {}

  std::vector<std::string_view> triggers() const override { return {set_->triggers().begin(), set_->triggers().end()}; }
  void on_end(FileContext context, model::Evidence& out) override {
    for (const auto& error : set_->errors()) out.add_problem({context.id, model::PosKind::kNone, 0}, error);
  }
  std::string_view format() const override { return "training-log"; }

  void on_line(const Line& line, FileContext context, model::Evidence& out) override {
    auto matches = set_->match(line.body.substr(0, kMatched));
    if (matches.empty()) return;
    const auto stance = text::stance_of(line.body);
    if (stance == text::Stance::kDenies || text::trains_at_boot(line.raw)) return denied(line, context, out);
    for (auto& match : matches) {
      const auto key = std::pair(match.signature, value(line.rank));
      if (seen_.size() >= kMaxKinds && !seen_.contains(key)) continue;
      auto& seen = seen_[key];
      if (seen.count >= kSingle) {
        out.events[seen.last].repeats += static_cast<std::uint32_t>(line.repeats);
        continue;
      }
      auto e = text::event(match.signature->id, line, context, out);
      for (const auto& [name, text] : match.fields) {
        if (name == "rank") set_rank(e, text);
        else if (name == "node") e.node = out.intern(text);
        else if (name == "pid") e.pid = base::to_int<std::int32_t>(text).value_or(-1);
        add_field(e, out, name, text);
      }
      if (stance == text::Stance::kHandled) add_field(e, out, "handled", "yes");
      ++seen.count;
      seen.last = out.events.size();
      out.events.push_back(std::move(e));
    }
  }

 private:
  struct Seen {
    std::uint32_t count = 0;
    std::size_t last = 0;  // index in Evidence::events
  };

  static void denied(const Line& line, FileContext context, model::Evidence& out) {
    out.add_problem(text::at(line, context), "known error texts stand in lines that say they did not happen");
  }

  static void set_rank(model::Event& e, std::string_view text) {
    if (value(e.rank) >= 0) return;  // the prefix of the line is surer than words in it
    if (const auto n = base::to_int<std::int32_t>(text); n && *n >= 0) e.rank = model::GlobalRank{*n};
  }

  std::shared_ptr<const SignatureSet> set_;
  std::map<std::pair<const model::Signature*, std::int32_t>, Seen> seen_;
};

}  // namespace

std::unique_ptr<text::LineParser> make_signature_parser(std::shared_ptr<const SignatureSet> set) {
  return std::make_unique<SignatureParser>(std::move(set));
}

}  // namespace holter::formats::logs
