// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/facts_parser.h"

#include <array>

#include "base/strings.h"
#include "formats/facts/names.h"
#include "formats/facts/phrases.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

constexpr std::size_t kPatience = 400;     // unrecognised lines before a file is given up
constexpr std::size_t kMaxFacts = 50'000;  // of one file
constexpr std::size_t kMaxNotes = 200;     // a longer file is no file of notes
constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kMaxPhrase = 16;  // lines with one phrase

// Text that no note holds: logs, stacks and traces belong to other parsers.
bool is_machine_line(const text::Line& line) {
  if ((line.time.kind != model::TimeKind::kNone && !line.time_inherited) || line.rank != model::GlobalRank::kNone)
    return true;
  static constexpr std::array<std::string_view, 14> kMarks{
      "Traceback (most", "  File \"", "frame #",    "Thread 0x", "Thread (", "(active",          "(idle",
      "NCCL INFO",       "NCCL WARN", "Call Trace", "[<0>]",     "Process ", "terminate called", "#0 "};
  for (const auto mark : kMarks) {
    if (line.body.find(mark) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

struct FactsParser::State {
  Recognisers recognisers = make_recognisers();
};

FactsParser::FactsParser() : state_(std::make_unique<State>()) {}
FactsParser::~FactsParser() = default;

std::vector<std::string_view> FactsParser::triggers() const {
  std::vector<std::string_view> all{"out of memory. Tried to allocate",
                                    "max locked memory",
                                    "Max locked memory",
                                    "LimitMEMLOCK",
                                    "could not insert '",
                                    "Unknown symbol",
                                    "ACSCtl:",
                                    "Driver Version:",
                                    "NVML library version",
                                    "API mismatch",
                                    "BOOT_IMAGE=",
                                    "DMAR: IOMMU enabled",
                                    "NVRM: loading NVIDIA",
                                    "iommu: Default domain type"};
  all.insert(all.end(), phrases().begin(), phrases().end());
  return all;
}

bool FactsParser::recognise(const text::Line& line, FileContext context, model::Evidence& out) {
  FactWriter facts(out, context);
  const auto body = line.body.substr(0, kMaxLine);
  const auto ask = [&](std::string_view text) {
    for (auto& r : state_->recognisers) {
      if (r->on_line(text, facts)) return true;
    }
    return false;
  };
  facts.at_line(line);
  if (line.node == model::StrId::kEmpty && !section_node_.empty()) facts.set_node(section_node_);
  const auto prefix = host_prefix(body);
  const auto ask_rest = [&] {
    facts.set_node(prefix->host);
    facts.set_context(prefix->context);
    return ask(prefix->rest);
  };
  // A word without a digit ("modprobe: ...") is a host only when the line makes no sense otherwise.
  const bool sure = prefix && (is_host_name(prefix->host) || !prefix->context.empty());
  bool found = sure && ask_rest();
  if (!found) {
    facts.at_line(line);
    if (line.node == model::StrId::kEmpty && !section_node_.empty()) facts.set_node(section_node_);
    found = ask(body) || (prefix && !sure && ask_rest());
  }
  if (!found) phrase(line, facts);
  facts_ += facts.added();
  return found;
}

// The first lines of each phrase are enough: what repeats adds nothing.
void FactsParser::phrase(const text::Line& line, FactWriter& facts) {
  const auto phrase = phrase_in(line.body.substr(0, kMaxLine));
  if (phrase.empty()) return;
  auto& seen = phrases_seen_[phrase];
  if (++seen > kMaxPhrase) return;
  facts.at_line(line);
  facts.add("line", line.body, phrase).has_number = false;
}

void FactsParser::judge(const text::Line& line, bool recognised) {
  ++lines_;
  if (recognised) ++recognised_;
  if (maybe_notes_ && is_machine_line(line)) maybe_notes_ = false;
  if (lines_ > kMaxNotes) maybe_notes_ = false;
  if (!maybe_notes_) notes_.clear();
  if (lines_ - recognised_ > kPatience && recognised_ * 4 < lines_) wants_all_ = false;
  if (facts_ > kMaxFacts) wants_all_ = false;
}

void FactsParser::on_line(const text::Line& line, FileContext context, model::Evidence& out) {
  if (facts_ > kMaxFacts || base::trim(line.body).empty()) return;
  if (!wants_all_) {
    // A log that repeats one phrase a million times must stay cheap.
    const auto known = phrases_seen_.find(phrase_in(line.body.substr(0, kMaxLine)));
    if (known != phrases_seen_.end() && known->second >= kMaxPhrase) return;
  }
  const bool own_time = line.time.kind != model::TimeKind::kNone && !line.time_inherited;
  const bool header = wants_all_ && !own_time && host_header(line.body).has_value();
  if (header) section_node_ = std::string(*host_header(line.body));
  const bool recognised = recognise(line, context, out) || header;
  judge(line, recognised);
  if (facts_ > kMaxFacts) out.add_problem(text::at(line, context), "more facts than are kept of one file");
  if (!recognised && maybe_notes_)
    notes_.push_back({std::string(line.body.substr(0, kMaxLine)), line.number, line.node});
}

void FactsParser::on_end(FileContext context, model::Evidence& out) {
  if (facts_ > 0) place_environment(context, out);
  // A few stray lines in a file that was otherwise understood are no notes of a person.
  if (!maybe_notes_ || notes_.empty()) return;
  FactWriter facts(out, context);
  for (const auto& note : notes_) {
    text::Line line;
    line.raw = line.body = note.text;
    line.number = note.number;
    line.node = note.node;
    facts.at_line(line);
    if (line.node == model::StrId::kEmpty && !section_node_.empty()) facts.set_node(section_node_);
    add_note(note.text, facts);
  }
  facts_ += facts.added();
  if (context.file) context.file->counts["facts"] += facts_;
}

// A dump of one environment names its own host, at any place among its lines.
void FactsParser::place_environment(FileContext context, model::Evidence& out) {
  model::StrId host = model::StrId::kEmpty;
  for (const auto& f : out.facts) {
    if (f.at.file != context.id || out.text(f.key) != "env.HOSTNAME") continue;
    if (host != model::StrId::kEmpty && host != f.value) return;  // several hosts in one file
    host = f.value;
  }
  if (host == model::StrId::kEmpty) return;
  for (auto& f : out.facts) {
    const bool here = f.at.file == context.id && f.node == model::StrId::kEmpty;
    if (here && out.text(f.key).starts_with("env.")) f.node = host;
  }
}

std::unique_ptr<text::LineParser> make_facts_parser() { return std::make_unique<FactsParser>(); }

}  // namespace holter::formats::facts
