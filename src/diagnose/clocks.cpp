// SPDX-License-Identifier: Apache-2.0
#include "diagnose/clocks.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "diagnose/log_failures.h"

namespace holter::diagnose {

namespace {

using model::Clock;

constexpr std::size_t kMaxNamed = 3;
constexpr std::size_t kMaxCulprits = 16;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kQuarter = 900 * kSecond;  // every zone is a whole number of them

bool is_measured(const Clock& c) { return c.set != 0 && c.shared > 0; }
bool is_off(const Clock& c) {
  return is_measured(c) && c.zone_ns == 0 && std::abs(c.offset_ns) > std::max(model::kWrongClockNs, c.error_ns);
}

class Clocks {
 public:
  Clocks(const Context& context, Output& out) : context_(context), clocks_(context.evidence.clocks), out_(out) {}

  void run() {
    zones();
    std::map<std::uint32_t, std::map<std::uint32_t, const Clock*>> hosts;  // by set and host, the best measured
    for (const auto& c : clocks_) {
      if (!is_measured(c)) continue;
      auto& slot = hosts[c.set][c.host];
      const bool plainer = slot && slot->zone_ns != 0 && c.zone_ns == 0;
      if (!slot || plainer || (is_off(c) && !is_off(*slot))) slot = &c;
    }
    for (const auto& [set, members] : hosts) wrong(members);
  }

 private:
  void zones() {
    for (const auto& c : clocks_) {
      if (c.zone_ns == 0 || !is_measured(c)) continue;
      out_.gaps.push_back(fmt::format(
          "times of {} in {} are {} {} the others: local time of another zone, taken into account ({} says so)",
          clock_name(context_, c), context_.evidence.files[value(c.file)].path, length_text(c.zone_ns),
          c.zone_ns > 0 ? "ahead of" : "behind", shared_text(c)));
    }
  }
  static std::string shared_text(const Clock& c) {
    return c.shared == 1 ? "1 event that both recorded" : fmt::format("{} events that both recorded", c.shared);
  }

  void wrong(const std::map<std::uint32_t, const Clock*>& members) {
    std::vector<const Clock*> off;
    for (const auto& [host, c] : members) {
      if (is_off(*c)) off.push_back(c);
    }
    if (off.empty()) return;
    const bool majority = members.size() - off.size() > off.size();
    model::Finding f = finding_of(context_, "clock_wrong");
    f.aside = true;
    f.severity = model::Severity::kInfo;
    f.confidence = off.front()->file == model::FileId::kNone ? 0.9 : 0.7;
    f.title = majority ? title_of(off) : title_of_two(*off.front());
    for (const auto* c : off) {
      if (f.culprits.size() < kMaxCulprits) f.culprits.push_back(culprit(*c));
      if (!majority) f.culprits.push_back(culprit(clocks_[c->other]));
    }
    for (const auto* c : off) {
      if (f.evidence.size() >= 4) break;
      f.evidence.push_back(cite_place(c->example, "the event by " + clock_name(context_, *c)));
      f.evidence.push_back(
          cite_place(c->other_example, "the same event by " + clock_name(context_, clocks_[c->other])));
    }
    f.needs = {
        "chronyc tracking (or timedatectl timesync-status) on these hosts, and whether all files are of one run"};
    out_.gaps.push_back(f.title + "; the order of events takes it into account");
    out_.findings.push_back(std::move(f));
  }
  std::string title_of(const std::vector<const Clock*>& off) const {
    std::string names;
    for (std::size_t i = 0; i < off.size() && i < kMaxNamed; ++i) {
      const auto& c = *off[i];
      names += fmt::format("{}the clock of {} is {} {}", i == 0 ? "" : ", ", clock_name(context_, c),
                           length_text(c.offset_ns), c.offset_ns > 0 ? "ahead of" : "behind");
    }
    if (off.size() > kMaxNamed) names += fmt::format(", {} more are off", off.size() - kMaxNamed);
    return fmt::format("{} the other hosts: {}, to within {}{}", names, shared_text(*off.front()),
                       length_text(off.front()->error_ns), whole(off.front()->offset_ns));
  }
  std::string title_of_two(const Clock& c) const {
    const auto apart = c.offset_ns - clocks_[c.other].offset_ns;
    return fmt::format("the clocks of {} and {} differ by {}, nothing says which is right: {}, to within {}{}",
                       clock_name(context_, c), clock_name(context_, clocks_[c.other]), length_text(apart),
                       shared_text(c), length_text(c.error_ns), whole(apart));
  }
  static std::string whole(std::int64_t offset) {
    const auto rest = std::abs(offset) % kQuarter;
    const bool is_zone = std::abs(offset) > kQuarter / 2 && std::min(rest, kQuarter - rest) < 2 * kSecond;
    return is_zone ? " (whole quarter hours: a clock set to local time?)" : "";
  }
  model::Culprit culprit(const Clock& c) const {
    model::Culprit out;
    out.kind = model::CulpritKind::kNode;
    if (c.node != model::StrId::kEmpty) out.node = context_.text(c.node);
    if (value(c.rank) >= 0) out.kind = model::CulpritKind::kRank, out.rank = value(c.rank);
    if (out.node.empty()) out.name = clock_name(context_, c);
    return out;
  }

  model::Citation cite_place(const model::SourceRef& at, const std::string& why) const {
    const auto& ev = context_.evidence;
    for (const auto& d : ev.dumps) {
      if (at.kind != model::PosKind::kRecord || d.file != at.file || at.pos >= d.entry_count) continue;
      const auto& e = ev.entries[d.first_entry + at.pos];
      return cite(context_, at,
                  fmt::format("rank {}: {} #{}, made {}, completed {} (ns)", value(d.rank), context_.text(e.op),
                              e.collective_seq, e.created_ns, e.completed_ns),
                  why);
    }
    std::string_view text;
    for (const auto& w : ev.watchdog) {
      if (w.at.file == at.file && w.at.pos == at.pos) text = context_.text(w.text);
    }
    for (const auto& e : ev.events) {
      if (text.empty() && e.at.file == at.file && e.at.pos == at.pos) text = context_.text(e.text);
    }
    return cite(context_, at, text, why);
  }

  const Context& context_;
  const std::vector<Clock>& clocks_;
  Output& out_;
};

}  // namespace

void diagnose_clocks(const Context& context, Output& out) { Clocks(context, out).run(); }

}  // namespace holter::diagnose
