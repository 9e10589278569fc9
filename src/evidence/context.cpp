// SPDX-License-Identifier: Apache-2.0
#include "evidence/context.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/strings.h"
#include "evidence/discover.h"
#include "evidence/ingest.h"
#include "evidence/stream.h"

namespace holter::evidence {

namespace {

using Wanted = std::map<std::string, std::vector<model::Citation*>>;  // by shown path

Wanted cited_lines(model::Report& report, const ContextLimits& limits) {
  Wanted out;
  std::size_t count = 0;
  const auto add = [&](std::vector<model::Citation>& all) {
    for (auto& c : all) {
      const bool usable = c.at.kind == model::PosKind::kLine && c.at.pos > 0 && c.at.pos <= limits.lines;
      if (usable && ++count <= limits.citations) out[c.source].push_back(&c);
    }
  };
  for (auto& f : report.findings) add(f.evidence), add(f.against);
  for (auto& x : report.ruled_out) add(x.evidence);
  return out;
}

// Cuts a stream into lines, each bounded, without keeping more than one.
class LineCutter {
 public:
  LineCutter(formats::ByteSource& source, std::size_t limit) : source_(source), limit_(limit) {}

  bool next(std::string& line) {
    line.clear();
    bool any = false;
    while (true) {
      if (chunk_.empty()) chunk_ = source_.next();
      if (chunk_.empty()) return any;
      any = true;
      const auto end = chunk_.find('\n');
      const auto part = chunk_.substr(0, end);
      line.append(part.substr(0, std::min(part.size(), limit_ + 1 - std::min(line.size(), limit_ + 1))));
      chunk_.remove_prefix(end == std::string_view::npos ? chunk_.size() : end + 1);
      if (end != std::string_view::npos) return true;
    }
  }

 private:
  formats::ByteSource& source_;
  std::size_t limit_;
  std::string_view chunk_;
};

// Takes every cited input, whatever its format, and nothing else.
class ContextReader final : public formats::Reader {
 public:
  ContextReader(const Wanted& wanted, const ContextLimits& limits) : wanted_(wanted), limits_(limits) {}

  std::string_view name() const override { return "context"; }
  int probe(const model::SourceFile& file, std::string_view) const override {
    return wanted_.contains(file.path) ? 100 : 0;
  }

  void read(formats::ByteSource& source, formats::FileContext context, model::Evidence&) const override {
    const auto& citations = wanted_.at(context.file->path);
    std::uint64_t last = 0;
    for (const auto* c : citations) last = std::max(last, c->at.pos);
    LineCutter cutter(source, limits_.line_bytes);
    std::string line;
    for (std::uint64_t number = 1; number <= last + limits_.after && cutter.next(line); ++number) {
      for (auto* c : citations) take(*c, number, line);
    }
  }

 private:
  void take(model::Citation& c, std::uint64_t number, const std::string& line) const {
    const std::uint64_t first = c.at.pos > limits_.before ? c.at.pos - limits_.before : 1;
    if (number < first || number > c.at.pos + limits_.after) return;
    if (number == first) c.context.clear(), c.context_first = first;
    const std::size_t end = line.ends_with('\r') ? line.size() - 1 : line.size();
    c.context.push_back(base::ellipsize(std::string_view(line).substr(0, end), limits_.line_bytes));
  }

  const Wanted& wanted_;
  const ContextLimits& limits_;
};

}  // namespace

void add_context(model::Report& report, const std::vector<std::string>& paths, const ContextLimits& limits) {
  const Wanted wanted = cited_lines(report, limits);
  if (wanted.empty()) return;
  std::set<std::string, std::less<>> inputs;  // an archive is opened for its members
  for (const auto& [source, unused] : wanted) inputs.insert(source.substr(0, source.find('!')));
  Readers readers;
  readers.push_back(std::make_unique<ContextReader>(wanted, limits));
  const Limits bounds;
  const Discovery found = discover(paths, bounds);
  Budget budget(bounds);
  Ingest ingest(found, readers, budget);
  for (const auto& input : found.inputs) {
    if (!inputs.contains(input.shown) || input.pipe || !input.unread.empty()) continue;
    model::Evidence scratch;
    ingest.read(input, NameHint{}, scratch);
  }
}

}  // namespace holter::evidence
