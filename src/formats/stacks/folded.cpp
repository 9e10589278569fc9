// SPDX-License-Identifier: Apache-2.0
// Folded stacks, outermost frame first: "main;train;all_reduce 41", as flame graph tools write them.
// DLRover's xpu_timer merges ranks: each frame is "function@file@has|leak", where `has` are the
// ranks that have this frame and `leak` those that lack it.
#include <algorithm>

#include "base/strings.h"
#include "formats/stacks/frame_lines.h"
#include "formats/stacks/parsers.h"
#include "formats/stacks/scan.h"
#include "formats/stacks/stack_parser.h"

namespace holter::formats::stacks {

namespace {

constexpr std::size_t kMaxStacks = 4'000'000;  // of one file

struct Folded {
  std::vector<std::string_view> frames;
  std::uint32_t samples = 1;
};

std::optional<Folded> split_line(std::string_view text) {
  text = base::trim(text);
  const auto blank = text.rfind(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto count = base::to_int<std::uint32_t>(text.substr(blank + 1));
  if (!count) return std::nullopt;
  Folded out;
  out.samples = *count;
  out.frames = base::split(base::trim(text.substr(0, blank)), ';');
  if (out.frames.size() > kMaxFrames || out.frames.size() < 2) return std::nullopt;
  const auto empty = [](std::string_view f) { return base::trim(f).empty(); };
  if (std::any_of(out.frames.begin(), out.frames.end(), empty)) return std::nullopt;
  return out;
}

// "func@file@0-2/5-7|3-4" without its rank part; the ranks in `ranks`.
std::string_view take_ranks(std::string_view frame, model::RankSet& ranks) {
  const auto at = frame.rfind('@');
  if (at == std::string_view::npos) return frame;
  auto has = frame.substr(at + 1);
  has = has.substr(0, has.find('|'));
  const auto set = model::RankSet::parse(has);
  if (!set || set->empty()) return frame;
  ranks = *set;
  return frame.substr(0, at);
}

model::Frame to_frame(std::string_view text, model::Evidence& out) {
  text = base::trim(text);
  if (const auto frame = pyspy_frame(text)) {
    return {out.intern(base::ellipsize(frame->function, kMaxName)), out.intern(base::ellipsize(frame->file, kMaxName)),
            frame->line, frame->kind};
  }
  const auto at = text.rfind('@');
  if (at == std::string_view::npos || at == 0) return {out.intern(base::ellipsize(text, kMaxName))};
  return {out.intern(base::ellipsize(text.substr(0, at), kMaxName)),
          out.intern(base::ellipsize(text.substr(at + 1), kMaxName))};
}

// Lines of at most kMaxLine bytes; the rest of a longer one is dropped.
class Lines {
 public:
  static constexpr std::size_t kMaxLine = std::size_t{1} << 20;
  explicit Lines(ByteSource& source) : source_(source) {}

  std::optional<std::string_view> next() {
    line_.clear();
    while (true) {
      if (chunk_.empty()) chunk_ = source_.next();
      if (chunk_.empty()) break;
      const auto end = chunk_.find('\n');
      const auto part = chunk_.substr(0, end);
      line_ += part.substr(0, kMaxLine - std::min(kMaxLine, line_.size()));
      chunk_.remove_prefix(end == std::string_view::npos ? chunk_.size() : end + 1);
      if (end != std::string_view::npos) return ++number_, line_;
    }
    if (line_.empty()) return std::nullopt;
    return ++number_, line_;
  }
  std::uint64_t number() const { return number_; }

 private:
  ByteSource& source_;
  std::string_view chunk_;
  std::string line_;
  std::uint64_t number_ = 0;
};

// A title frame: "rank 3", "rank3", "process 4470:\"python train.py\"" and "thread (7)" of py-spy record.
bool is_title(std::string_view text, model::StackSample& sample) {
  Scan scan(base::trim(text));
  if (scan.skip("rank")) {
    scan.skip_any(" _:=");
    std::int32_t rank = -1;
    if (!scan.number(rank) || !scan.rest().empty()) return false;
    sample.rank = model::GlobalRank{rank};
    return true;
  }
  if (scan.skip("process ")) return scan.number(sample.pid);
  return scan.skip("thread (") && scan.rest().ends_with(")");
}

class FoldedReader final : public Reader {
 public:
  std::string_view name() const override { return "folded-stacks"; }

  int probe(const model::SourceFile&, std::string_view head) const override {
    std::size_t good = 0, bad = 0;
    while (!head.empty() && good + bad < 50) {
      const auto end = head.find('\n');
      if (end == std::string_view::npos && good + bad > 0) break;  // perhaps cut
      const auto line = head.substr(0, end);
      if (!base::trim(line).empty()) (split_line(line) ? good : bad)++;
      head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    }
    return good > 0 && good >= 4 * bad ? 75 : 0;
  }

  void read(ByteSource& source, FileContext context, model::Evidence& out) const override {
    Lines lines(source);
    std::uint64_t count = 0;
    while (const auto line = lines.next()) {
      context.file->lines = lines.number();
      if (base::trim(*line).empty()) continue;
      const model::SourceRef at{context.id, model::PosKind::kLine, lines.number()};
      const auto folded = split_line(*line);
      if (!folded) {
        out.add_problem(at, "not a folded stack");
      } else if (count >= kMaxStacks) {
        out.add_problem(at, "more stacks than the limit");
        break;
      } else {
        add(*folded, at, context, out);
        ++count;
      }
    }
    context.file->counts["stacks"] = count;
  }

 private:
  static void add(const Folded& folded, model::SourceRef at, FileContext context, model::Evidence& out) {
    model::StackSample s;
    s.at = at;
    s.rank = context.file->name_rank;
    s.node = context.file->name_node;
    s.tool = out.intern("folded");
    s.samples = folded.samples;
    for (std::size_t i = 0; i < folded.frames.size(); ++i) {
      if (i < 3 && i + 1 < folded.frames.size() && is_title(folded.frames[i], s)) continue;
      s.frames.push_back(to_frame(take_ranks(folded.frames[i], s.ranks), out));
    }
    if (!s.ranks.empty()) s.rank = model::GlobalRank::kNone;
    out.stacks.push_back(std::move(s));
  }
};

}  // namespace

std::unique_ptr<Reader> make_folded_reader() { return std::make_unique<FoldedReader>(); }

}  // namespace holter::formats::stacks
