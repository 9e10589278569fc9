// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "report/escape.h"
#include "report/words.h"

namespace holter::report {

namespace {

constexpr std::size_t kRows = 500;  // of any one table
constexpr std::string_view kDot = " \xC2\xB7 ";

// Every citation of a report once, in the order of the page.
std::vector<const model::Citation*> citations_of(const model::Report& r) {
  std::vector<const model::Citation*> out;
  const auto add = [&](const std::vector<model::Citation>& all) {
    for (const auto& c : all) out.push_back(&c);
  };
  for (const auto& f : r.findings) add(f.evidence), add(f.against);
  for (const auto& x : r.ruled_out) add(x.evidence);
  return out;
}

std::map<const model::Citation*, std::string> anchors_of(const model::Report& r) {
  std::map<const model::Citation*, std::string> out;
  std::set<std::string> used;
  std::size_t position = 0;
  for (const auto* c : citations_of(r)) {
    std::string id = anchor(c->id, ++position);
    if (!used.insert(id).second) used.insert(id = fmt::format("x{}", position));
    out.emplace(c, std::move(id));
  }
  return out;
}

std::string link(const model::Citation& c, const std::string& id) {
  return fmt::format("<a class=\"cite\" href=\"#{}\">{} <bdi>{}</bdi></a>", id, html(c.id), html(place(c)));
}

std::string command(const std::string& text) {
  return text.empty() ? "" : fmt::format("<pre class=\"command\"><bdi>{}</bdi></pre>", html(text));
}

void fact(std::string& out, std::string_view name, const std::string& value, std::string_view css = "") {
  if (!value.empty())
    out += fmt::format("<div><dt>{}</dt><dd{}><bdi>{}</bdi></dd></div>\n", name,
                       css.empty() ? "" : fmt::format(" class=\"{}\"", css), html(value));
}

std::string facts(const model::Report& r) {
  std::string out;
  const auto& waiting = r.impact.waiting;
  const bool fault = r.verdict.certainty != model::Certainty::kNoFault;
  if (fault && !r.findings.empty()) fact(out, culprit_word(r), culprits_text(r.findings.front().culprits), "culprit");
  if (!waiting.empty())
    fact(out, "Waiting", fmt::format("{} ({})", ranks_text(waiting), count_text(waiting.size())), "waiting");
  if (r.owner != model::Owner::kUnknown) fact(out, "Owner", spaced(model::to_string(r.owner)));
  if (r.impact.gpus_idle)
    fact(out, "Idle", count_noun(static_cast<std::uint64_t>(std::max(0, *r.impact.gpus_idle)), "GPU", "GPUs"));
  if (r.impact.gpu_hours_lost) fact(out, "Lost", fmt::format("{:.1f} GPU hours", *r.impact.gpu_hours_lost));
  fact(out, "Exclude",
       r.decision.exclude_nodes.empty() ? "no node" : fmt::format("{}", fmt::join(r.decision.exclude_nodes, ", ")));
  fact(out, "Resume from", r.decision.resume_from);
  if (!r.job.missing_ranks.empty()) fact(out, "No evidence", ranks_noun(r.job.missing_ranks), "unknown");
  return "<dl class=\"facts\">" + out + "</dl>\n";
}

std::string action(const model::Action& a) {
  return fmt::format("<li><bdi>{}</bdi> <span class=\"risk\">risk: {}</span>{}</li>\n", html(a.text),
                     model::to_string(a.risk), command(a.command));
}

}  // namespace

std::string html_answer(const model::Report& r) {
  const auto ids = anchors_of(r);
  const bool fault = r.verdict.certainty != model::Certainty::kNoFault;
  std::string out = fmt::format("<section id=\"answer\" class=\"answer {}\">\n<p class=\"verdict\"><b>{}</b>",
                                fault ? "fault" : "fine", html(verdict_label(r)));
  if (const auto deadline = deadline_text(r); !deadline.empty())
    out += fmt::format("<span class=\"deadline\">{}</span>", html(deadline));
  if (r.decision.restart != model::Restart::kUnknown) {
    out += fmt::format("<span class=\"restart\">restart: {}</span>", spaced(model::to_string(r.decision.restart)));
  }
  out += fmt::format("</p>\n<h1><bdi>{}</bdi></h1>\n",
                     html(r.verdict.summary.empty() ? "The report names no cause." : r.verdict.summary));
  out += facts(r);
  if (!r.decision.why.empty())
    out += fmt::format("<p class=\"why\">Decision: <bdi>{}</bdi></p>\n", html(r.decision.why));
  if (r.findings.empty() || !fault) return out + "</section>\n";
  const auto& root = r.findings.front();
  out += "<ol class=\"lead\">\n";
  for (std::size_t i = 0; i < root.evidence.size() && i < 3; ++i) {
    const auto& c = root.evidence[i];
    out += fmt::format("<li>{} <code><bdi>{}</bdi></code> <span class=\"why\"><bdi>{}</bdi></span></li>\n",
                       link(c, ids.at(&c)), html(base::trim(c.text)), html(c.why));
  }
  out += "</ol>\n";
  if (!root.actions.empty()) {
    out += "<h3>Next</h3>\n<ol class=\"actions\">\n";
    for (const auto& a : root.actions) out += action(a);
    out += "</ol>\n";
  }
  return out + "</section>\n";
}

std::string html_hypotheses(const model::Report& r) {
  if (r.findings.empty() && r.ruled_out.empty()) return "";
  const auto ids = anchors_of(r);
  const auto list = [&](const std::vector<model::Citation>& all) {
    std::string out;
    for (const auto& c : all) out += fmt::format("<li>{} <bdi>{}</bdi></li>", link(c, ids.at(&c)), html(c.why));
    return out.empty() ? std::string("<span class=\"muted\">nothing</span>") : "<ul>" + out + "</ul>";
  };
  std::string out =
      "<table class=\"hypotheses\"><thead><tr><th>Hypothesis</th><th>For</th><th>Against</th><th>Would decide</th></tr></thead><tbody>\n";
  std::size_t position = 0;
  for (const auto& f : r.findings) {
    if (++position > kRows) break;
    std::string needs;
    for (const auto& n : f.needs) needs += fmt::format("<li><bdi>{}</bdi></li>", html(n));
    out += fmt::format(
        "<tr id=\"{}\" class=\"s {}\"><td><b>{}</b> <bdi>{}</bdi><div class=\"meta\">{}{}{}{}{}{}<bdi>{}</bdi></div></td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        anchor(f.id, 100'000 + position), model::to_string(f.role), html(f.id), html(f.title), model::to_string(f.role),
        kDot, spaced(model::to_string(f.certainty)), kDot, spaced(model::to_string(f.severity)), kDot, html(f.cause),
        list(f.evidence), list(f.against),
        needs.empty() ? "<span class=\"muted\">nothing named</span>" : "<ul>" + needs + "</ul>");
  }
  for (const auto& x : r.ruled_out) {
    if (++position > kRows) break;
    out += fmt::format(
        "<tr class=\"s ruled-out\"><td><b>ruled out</b> <bdi>{}</bdi></td><td></td><td><bdi>{}</bdi>{}</td><td></td></tr>\n",
        html(x.cause), html(x.why), x.evidence.empty() ? "" : list(x.evidence));
  }
  return out + "</tbody></table>\n";
}

namespace {

// A few hops along the ring on both sides of a broken edge.
std::string around(const model::Topology& t, const model::TopologyEdge& broken) {
  std::map<std::int32_t, const model::TopologyEdge*> next, previous;
  for (const auto& e : t.edges) {
    if (e.kind == broken.kind && e.channel == broken.channel) next.emplace(e.from, &e), previous.emplace(e.to, &e);
  }
  std::string out;
  std::vector<std::int32_t> before{broken.from};
  for (int i = 0; i < 3 && previous.contains(before.back()); ++i) before.push_back(previous[before.back()]->from);
  for (auto it = before.rbegin(); it != before.rend(); ++it)
    out += fmt::format("<span class=\"hop\">{}</span> \xE2\x86\x92 ", *it);
  out.resize(out.size() - 5);
  out +=
      fmt::format(" <span class=\"broken\">\xE2\x9C\x95 {}</span> ", html(broken.via.empty() ? "broken" : broken.via));
  std::int32_t at = broken.to;
  out += fmt::format("<span class=\"hop\">{}</span>", at);
  for (int i = 0; i < 3 && next.contains(at); ++i) {
    at = next[at]->to;
    out += fmt::format(" \xE2\x86\x92 <span class=\"hop\">{}</span>", at);
  }
  return out;
}

std::string topology(const model::Report& r) {
  std::string out;
  for (const auto& t : r.topology) {
    std::size_t shown = 0;
    for (const auto& e : t.edges) {
      if (!e.broken || ++shown > 8) continue;
      out += fmt::format("<p class=\"chain s\"><span class=\"muted\"><bdi>{}</bdi> of <bdi>{}</bdi>{}</span> {}</p>\n",
                         html(e.kind), html(t.communicator),
                         e.channel >= 0 ? fmt::format(", channel {}", e.channel) : "", around(t, e));
    }
    if (shown == 0)
      out += fmt::format("<p class=\"muted\"><bdi>{}</bdi>: {}, none seen broken</p>\n", html(t.communicator),
                         count_noun(t.edges.size(), "edge", "edges"));
  }
  return out;
}

}  // namespace

std::string html_waits(const model::Report& r) {
  std::string out;
  for (std::size_t i = 0; i < r.waits.size() && i < kRows; ++i) {
    const auto& w = r.waits[i];
    out += fmt::format(
        "<li class=\"s\"><span class=\"lane\"><bdi>{}</bdi></span><span class=\"box waiting\">{}</span><span class=\"edge\">wait in <bdi>{}</bdi>{} \xE2\x86\x92</span>"
        "<span class=\"box {}\">{}{}</span></li>\n",
        html(w.group.empty() ? "group unknown" : w.group), ranks_noun(w.waiters), html(w.op),
        w.seq >= 0 ? fmt::format(" #{}", w.seq) : "", w.origin ? "culprit" : "waiting", waited_text(w),
        w.origin ? " (origin)" : "");
  }
  if (!out.empty()) out = "<ul class=\"waits\">" + out + "</ul>\n";
  if (r.waits.size() > kRows)
    out += fmt::format("<p>and {} more in the JSON report</p>\n", count_text(r.waits.size() - kRows));
  return out + topology(r);
}

std::string html_stacks(const model::Report& r) {
  const auto& nodes = r.stacks.nodes;
  if (nodes.empty()) return "";
  std::string out;
  if (!r.stacks.fork_text.empty())
    out += fmt::format("<p class=\"fork s\"><b>Fork:</b> <bdi>{}</bdi></p>\n", html(r.stacks.fork_text));
  out += "<div id=\"stacks-view\"></div>\n<div id=\"stacks-plain\"><pre class=\"tree\">";
  struct Step {
    std::uint32_t node;
    std::size_t depth;
  };
  std::vector<Step> todo{{0, 0}};
  std::size_t printed = 0;
  while (!todo.empty() && printed < kRows) {
    const Step at = todo.back();
    todo.pop_back();
    if (at.node >= nodes.size() || at.depth > 60) continue;
    const auto& n = nodes[at.node];
    ++printed;
    out += fmt::format("{}<span class=\"{}\"><bdi>{}</bdi></span> <span class=\"muted\">{}</span>{}\n",
                       std::string(at.depth * 2, ' '), n.minority ? "culprit" : "frame", html(n.frame),
                       n.ranks.empty() ? "" : ranks_noun(n.ranks, 4), n.fork ? " <b>fork</b>" : "");
    for (auto child = n.children.rbegin(); child != n.children.rend(); ++child)
      todo.push_back({*child, at.depth + (n.children.size() > 1 ? 1 : 0)});
  }
  return out + "</pre></div>\n";
}

std::string html_evidence(const model::Report& r) {
  const auto ids = anchors_of(r);
  std::string out;
  std::size_t count = 0;
  for (const auto* c : citations_of(r)) {
    if (++count > kRows) break;
    out += fmt::format("<article id=\"{}\" class=\"s evidence\"><h3><a href=\"#{}\">{}</a> <bdi>{}</bdi></h3>",
                       ids.at(c), ids.at(c), html(c->id), html(place(*c)));
    if (!c->why.empty()) out += fmt::format("<p><bdi>{}</bdi></p>", html(c->why));
    out += "<pre>";
    const std::uint64_t marked = c->at.kind == model::PosKind::kLine ? c->at.pos : 0;
    for (std::size_t i = 0; i < c->context.size(); ++i) {
      const std::uint64_t line = c->context_first + i;
      const char* tag = line == marked ? "mark" : "span";
      out += fmt::format("<span class=\"number\">{}</span><{}>{}</{}>\n", line, tag, html(c->context[i]), tag);
    }
    if (c->context.empty()) out += fmt::format("<mark>{}</mark>\n", html(c->text));
    out += "</pre></article>\n";
  }
  return out;
}

namespace {

std::string list(std::string_view title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string out = fmt::format("<h3>{}</h3><ul class=\"plain\">\n", title);
  for (std::size_t i = 0; i < items.size() && i < kRows; ++i)
    out += fmt::format("<li class=\"s\"><bdi>{}</bdi></li>\n", html(items[i]));
  return out + "</ul>\n";
}

std::string files(const model::Report& r) {
  static constexpr const char* kStatus[] = {"read", "read in part", "searched as text", "not read"};
  if (r.evidence.files.empty()) return "";
  std::string out = fmt::format(
      "<details><summary>Files ({})</summary><table><thead><tr><th>File</th><th>Format</th><th>Status</th><th>Found</th></tr></thead><tbody>\n",
      count_text(r.evidence.files.size()));
  for (std::size_t i = 0; i < r.evidence.files.size() && i < kRows; ++i) {
    const auto& f = r.evidence.files[i];
    std::string counts;
    for (const auto& [what, n] : f.counts)
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count_text(n), html(what));
    out += fmt::format(
        "<tr class=\"s\"><td><bdi>{}</bdi></td><td><bdi>{} {}</bdi></td><td>{}</td><td><bdi>{}</bdi></td></tr>\n",
        html(f.path), html(f.format), html(f.version), kStatus[static_cast<std::size_t>(f.status)], counts);
  }
  out += "</tbody></table>";
  if (r.evidence.files.size() > kRows)
    out += fmt::format("<p>and {} more in the JSON report</p>", count_text(r.evidence.files.size() - kRows));
  return out + "</details>\n";
}

std::string groups(const model::Report& r) {
  if (r.job.groups.empty()) return "";
  std::string out = fmt::format(
      "<details><summary>Groups ({})</summary><table><thead><tr><th>Group</th><th>Ranks</th><th>State</th></tr></thead><tbody>\n",
      count_text(r.job.groups.size()));
  for (std::size_t i = 0; i < r.job.groups.size() && i < kRows; ++i) {
    const auto& g = r.job.groups[i];
    out += fmt::format("<tr class=\"s\"><td><bdi>{}</bdi></td><td>{}</td><td><bdi>{}</bdi></td></tr>\n", html(g.name),
                       ranks_text(model::RankSet::of(g.ranks)), html(g.state));
  }
  return out + "</tbody></table></details>\n";
}

std::string events(const model::Report& r) {
  if (r.timeline.empty()) return "";
  std::string out = fmt::format(
      "<details open><summary>Events ({})</summary><table class=\"events\"><thead><tr><th>Time</th><th>Who</th><th>What</th><th>Evidence</th></tr></thead><tbody>\n",
      count_text(r.timeline.size()));
  for (std::size_t i = 0; i < r.timeline.size() && i < kRows; ++i) {
    const auto& e = r.timeline[i];
    const std::string error =
        e.error_ns >= 1'000'000 ? fmt::format(" \xC2\xB1 {:.3f} s", static_cast<double>(e.error_ns) / 1e9) : "";
    out += fmt::format(
        "<tr class=\"s\"><td class=\"time\">{}{}</td><td><bdi>{}</bdi></td><td><bdi>{}</bdi></td><td><bdi>{}</bdi></td></tr>\n",
        e.ns == 0 ? "not known" : time_text(e.ns, true), error, html(e.who), html(e.what), html(e.evidence));
  }
  return out + "</tbody></table></details>\n";
}

}  // namespace

std::string html_inputs(const model::Report& r) {
  std::vector<std::string> problems, coverage;
  for (const auto& p : r.evidence.problems) {
    model::Citation at;
    at.at = p.at;
    if (const auto index = model::value(p.at.file); index < r.evidence.files.size())
      at.source = r.evidence.files[index].path;
    problems.push_back((at.source.empty() ? "" : place(at) + ": ") + p.what +
                       (p.times > 1 ? fmt::format(" ({} times)", count_text(p.times)) : ""));
  }
  for (const auto& [what, seconds] : r.evidence.coverage)
    coverage.push_back(fmt::format("{}: {:.1f} s", what, seconds));
  return list("Gaps", r.evidence.gaps) + list("Problems", problems) + list("Coverage", coverage) + events(r) +
         groups(r) + files(r);
}

}  // namespace holter::report
