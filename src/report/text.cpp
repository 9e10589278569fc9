// SPDX-License-Identifier: Apache-2.0
// The first screen: the answer in at most 25 lines (UI principle "the answer first"), then, with
// --full, everything that text_full.cpp adds.
#include "report/text.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/escape.h"
#include "report/report.h"
#include "report/words.h"

namespace holter::report {

namespace {

constexpr std::size_t kScreenLines = 25;
constexpr std::size_t kEvidenceShown = 3;
constexpr std::size_t kActionsShown = 2;

const model::Finding* root_of(const model::Report& r) {
  return r.findings.empty() || r.verdict.certainty == model::Certainty::kNoFault ? nullptr : &r.findings.front();
}

void label(Lines& out, std::string_view name, std::string_view value, Tone tone = Tone::kPlain) {
  if (!value.empty()) out.add(fmt::format("  {:<9} ", name), value, tone, 2);
}

std::string decision_text(const model::Report& r) {
  if (r.decision.restart == model::Restart::kUnknown) return "";
  return "restart: " + spaced(model::to_string(r.decision.restart));
}

std::string cost_text(const model::Report& r) {
  std::string out;
  if (r.impact.gpus_idle)
    out = count_noun(static_cast<std::uint64_t>(std::max(0, *r.impact.gpus_idle)), "GPU", "GPUs") + " idle";
  if (r.impact.gpu_hours_lost)
    out += fmt::format("{}{:.1f} GPU hours lost", out.empty() ? "" : ", ", *r.impact.gpu_hours_lost);
  return out;
}

std::string waiting_text(const model::Report& r) {
  const auto& waiting = r.impact.waiting;
  return waiting.empty() ? "" : ranks_noun(waiting) + (waiting.size() == 1 ? " waits" : " wait");
}

void facts(Lines& out, const model::Report& r) {
  if (const auto* root = root_of(r))
    label(out, culprit_word(r) == "Culprit" ? "culprit" : "suspect", culprits_text(root->culprits), Tone::kCulprit);
  label(out, "waiting", waiting_text(r));
  std::string owner = r.owner == model::Owner::kUnknown ? "" : spaced(model::to_string(r.owner));
  if (const std::string cost = cost_text(r); !cost.empty()) owner += (owner.empty() ? "" : "; ") + cost;
  label(out, r.owner == model::Owner::kUnknown ? "cost" : "owner", owner);
  label(out, "exclude", fmt::format("{}", fmt::join(r.decision.exclude_nodes, ", ")));
  label(out, "deadline", deadline_text(r));
  label(out, "resume", r.decision.resume_from);
  label(out, "why", r.decision.why);
}

// A citation on one line: where, then the text itself.
void first_screen_evidence(Lines& out, const model::Citation& c) {
  const std::string id = fmt::format("  {:<3} ", fit(one_line(c.id), 6));
  const std::string where = fit(one_line(place(c)), 30, true);
  const std::size_t column = std::max<std::size_t>(24, display_width(where) + 2);
  const std::string lead = id + where + std::string(column - display_width(where), ' ');
  out.add(lead, c.text.empty() ? c.why : c.text, Tone::kPlain, 1);
}

void evidence(Lines& out, const model::Finding& root) {
  if (root.evidence.empty()) return;
  out.heading("Evidence");
  for (std::size_t i = 0; i < root.evidence.size() && i < kEvidenceShown; ++i)
    first_screen_evidence(out, root.evidence[i]);
}

void next_steps(Lines& out, const model::Finding& root) {
  if (root.actions.empty() && root.needs.empty()) return;
  out.heading("Next");
  for (std::size_t i = 0; i < root.actions.size() && i < kActionsShown; ++i) {
    const auto& a = root.actions[i];
    const std::string risk = a.risk == model::Risk::kNone ? "" : fmt::format(" [{} risk]", model::to_string(a.risk));
    out.add(fmt::format("  {}. ", i + 1), a.text + risk, Tone::kPlain, 2);
    if (!a.command.empty()) out.add("     $ ", a.command, Tone::kPlain, 1);
  }
  if (root.actions.size() < kActionsShown && !root.needs.empty())
    out.add("  to be sure: ", root.needs.front(), Tone::kPlain, 2);
}

std::string rest_text(const model::Report& r) {
  std::vector<std::string> parts;
  if (r.findings.size() > 1) parts.push_back(count_noun(r.findings.size() - 1, "other finding", "other findings"));
  if (!r.ruled_out.empty()) parts.push_back(fmt::format("{} ruled out", r.ruled_out.size()));
  if (!r.evidence.gaps.empty()) parts.push_back(count_noun(r.evidence.gaps.size(), "gap", "gaps"));
  if (!r.job.missing_ranks.empty()) parts.push_back("no evidence from " + ranks_noun(r.job.missing_ranks, 3));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string named(const model::SourceFile& f) {
  return f.path.substr(f.path.rfind('/') + 1) + (f.note.empty() ? "" : " (" + f.note + ")");
}

// "2 of 9 files could not be read: x.bin (...), ...; 1 only in part: rank3"; "" when all was read.
std::string unread_text(const model::Report& r) {
  std::size_t unread = 0, partial = 0;
  const model::SourceFile *first_unread = nullptr, *first_partial = nullptr;
  for (const auto& f : r.evidence.files) {
    if (f.status == model::FileStatus::kUnread && !f.passed_over) {
      ++unread, first_unread = first_unread ? first_unread : &f;
    } else if (f.status == model::FileStatus::kPartial) {
      ++partial, first_partial = first_partial ? first_partial : &f;
    }
  }
  if (unread + partial == 0) return "";
  std::string out = fmt::format("{} of {} could not be read", unread > 0 ? unread : partial,
                                count_noun(r.evidence.files.size(), "file", "files"));
  if (unread == 0) out += " in full";
  out += ": " + named(unread > 0 ? *first_unread : *first_partial);
  if ((unread > 0 ? unread : partial) > 1) out += ", ...";
  if (unread > 0 && partial > 0) out += fmt::format("; {} only in part: {}", partial, named(*first_partial));
  return out;
}

// One line, whose end "see --full" stays.
void add_unread(Lines& out, const std::string& text, const TextOptions& options) {
  if (text.empty()) return;
  const std::string_view end = options.full ? "" : "; see --full";
  out.add("", fit(one_line(text), out.width() - end.size()) + std::string(end), Tone::kMuted, 1);
}

Lines first_screen(const model::Report& r, const TextOptions& options) {
  const auto width = static_cast<std::size_t>(std::clamp(options.width, 40, 400));
  Lines out(options.colour, width);
  const Tone tone = r.verdict.certainty == model::Certainty::kNoFault ? Tone::kBold : Tone::kCulprit;
  out.spread(verdict_label(r), tone, decision_text(r));
  out.add("", r.verdict.summary.empty() ? "The report names no cause." : r.verdict.summary, Tone::kBold, 4);
  Lines body(options.colour, width);
  facts(body, r);
  if (const auto* root = root_of(r)) {
    evidence(body, *root);
    next_steps(body, *root);
  } else if (!r.evidence.gaps.empty()) {
    body.heading("Not known");
    for (std::size_t i = 0; i < r.evidence.gaps.size() && i < 5; ++i)
      body.add("  ", r.evidence.gaps[i], Tone::kPlain, 2);
  }
  const std::string rest = rest_text(r);
  const std::string unread = unread_text(r);
  const std::size_t tail = rest.empty() || options.full ? 0 : 1;
  body.truncate(kScreenLines - out.count() - tail - (unread.empty() ? 0 : 1));
  out.append(body);
  add_unread(out, unread, options);
  if (tail > 0) out.add("", rest + (out.count() + 1 < kScreenLines ? " (--full shows them)" : ""), Tone::kMuted, 1);
  return out;
}

}  // namespace

std::string to_text(const model::Report& report, const TextOptions& options) {
  Lines out = first_screen(report, options);
  if (options.full) append_full(out, report, options);
  return out.text();
}

}  // namespace holter::report
