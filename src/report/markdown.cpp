// SPDX-License-Identifier: Apache-2.0
// For a ticket or chat: the answer, evidence, actions and hypotheses; not the graphs.
#include <algorithm>

#include <fmt/format.h>

#include "report/escape.h"
#include "report/report.h"
#include "report/words.h"

namespace holter::report {

namespace {

constexpr std::size_t kRows = 20;

void row(std::string& out, std::string_view name, const std::string& value) {
  if (!value.empty()) out += fmt::format("| {} | {} |\n", name, markdown(value));
}

void citation(std::string& out, const model::Citation& c, std::string_view sign) {
  out += fmt::format("- {}{} {}", sign, markdown(c.id), markdown_code(place(c)));
  if (!c.why.empty()) out += " " + markdown(c.why);
  if (!c.text.empty()) out += "\n  " + markdown_code(c.text);
  out += "\n";
}

void actions(std::string& out, const model::Finding& f) {
  if (f.actions.empty() && f.needs.empty()) return;
  out += "\n### Next\n\n";
  int number = 0;
  for (const auto& a : f.actions) {
    out += fmt::format("{}. {} (risk: {})\n", ++number, markdown(a.text), model::to_string(a.risk));
    if (!a.command.empty()) out += "   " + markdown_code(a.command) + "\n";
  }
  for (const auto& need : f.needs) out += "- Would decide: " + markdown(need) + "\n";
}

void head(std::string& out, const model::Report& r) {
  out += fmt::format("## {}\n\n**{}**\n\n| | |\n|---|---|\n", verdict_label(r), markdown(r.verdict.summary));
  if (!r.findings.empty()) row(out, culprit_word(r), culprits_text(r.findings.front().culprits));
  row(out, "Restart", spaced(model::to_string(r.decision.restart)));
  row(out, "Exclude nodes", fmt::format("{}", fmt::join(r.decision.exclude_nodes, ", ")));
  row(out, "Deadline", deadline_text(r));
  row(out, "Resume from", r.decision.resume_from);
  row(out, "Why", r.decision.why);
  row(out, "Owner", spaced(model::to_string(r.owner)));
  if (r.impact.gpus_idle) row(out, "GPUs idle", std::to_string(*r.impact.gpus_idle));
  if (r.impact.gpu_hours_lost) row(out, "GPU hours lost", fmt::format("{:.1f}", *r.impact.gpu_hours_lost));
  if (!r.job.missing_ranks.empty()) row(out, "Without evidence", ranks_noun(r.job.missing_ranks));
}

}  // namespace

std::string to_markdown(const model::Report& r) {
  std::string out;
  head(out, r);
  if (!r.findings.empty()) {
    const auto& root = r.findings.front();
    if (!root.evidence.empty()) out += "\n### Evidence\n\n";
    for (const auto& c : root.evidence) citation(out, c, "");
    for (const auto& c : root.against) citation(out, c, "against: ");
    actions(out, root);
  }
  if (r.findings.size() > 1) out += "\n### Other findings\n\n";
  for (std::size_t i = 1; i < r.findings.size() && i < kRows; ++i) {
    const auto& f = r.findings[i];
    out += fmt::format("- {} {} ({}, {})\n", markdown(f.id), markdown(f.title), model::to_string(f.role),
                       spaced(model::to_string(f.certainty)));
  }
  if (!r.ruled_out.empty()) out += "\n### Ruled out\n\n";
  for (std::size_t i = 0; i < r.ruled_out.size() && i < kRows; ++i) {
    out += fmt::format("- {}: {}\n", markdown(r.ruled_out[i].cause), markdown(r.ruled_out[i].why));
  }
  if (!r.evidence.gaps.empty()) out += "\n### Gaps\n\n";
  for (std::size_t i = 0; i < r.evidence.gaps.size() && i < kRows; ++i)
    out += "- " + markdown(r.evidence.gaps[i]) + "\n";
  const auto& files = r.evidence.files;
  const auto unread =
      std::count_if(files.begin(), files.end(), [](const auto& f) { return f.status == model::FileStatus::kUnread; });
  out += fmt::format("\n{} given, {} not read; holter {}\n", count_noun(files.size(), "file", "files"), unread,
                     markdown(r.tool_version));
  return out;
}

}  // namespace holter::report
