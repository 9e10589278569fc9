// SPDX-License-Identifier: Apache-2.0
// Visits every text of a report that came from outside; a field added to model::Report is added here.
#pragma once

#include <map>
#include <utility>

#include "model/report.h"

namespace holter::report {

template <typename Visit>
void each_text(model::Citation& c, Visit visit) {
  visit(c.id), visit(c.source), visit(c.text), visit(c.why);
  for (auto& line : c.context) visit(line);
}

template <typename Visit>
void each_text(model::Finding& f, Visit visit) {
  visit(f.id), visit(f.cause), visit(f.title);
  for (auto& c : f.culprits) visit(c.node), visit(c.gpu), visit(c.peer), visit(c.name);
  for (auto* list : {&f.explains, &f.needs, &f.exclude_nodes, &f.explains_causes}) {
    for (auto& text : *list) visit(text);
  }
  for (auto& a : f.actions) visit(a.text), visit(a.command);
  for (auto* list : {&f.evidence, &f.against}) {
    for (auto& c : *list) each_text(c, visit);
  }
}

template <typename Visit>
void each_text_of_inputs(model::Report& r, Visit visit) {
  for (auto& f : r.evidence.files) {
    visit(f.path), visit(f.format), visit(f.version), visit(f.note);
    std::map<std::string, std::uint64_t> counts;
    for (const auto& [old_name, n] : f.counts) {
      std::string name = old_name;
      visit(name);
      counts[name] += n;
    }
    f.counts = std::move(counts);
  }
  for (auto& p : r.evidence.problems) visit(p.what);
  for (auto& gap : r.evidence.gaps) visit(gap);
  for (auto& c : r.evidence.coverage) visit(c.first);
}

template <typename Visit>
void each_text(model::Report& r, Visit visit) {
  visit(r.tool_version), visit(r.verdict.summary), visit(r.decision.resume_from), visit(r.decision.why);
  for (auto* list : {&r.decision.exclude_nodes, &r.impact.jobs, &r.job.nodes}) {
    for (auto& text : *list) visit(text);
  }
  for (auto& g : r.job.groups) visit(g.name), visit(g.state);
  for (auto& f : r.findings) each_text(f, visit);
  for (auto& x : r.ruled_out) {
    visit(x.cause), visit(x.why);
    for (auto& c : x.evidence) each_text(c, visit);
  }
  each_text_of_inputs(r, visit);
  for (auto& e : r.timeline) visit(e.what), visit(e.who), visit(e.evidence);
  for (auto& c : r.calls) visit(c.group), visit(c.op), visit(c.state);
  for (auto& w : r.waits) visit(w.group), visit(w.op);
  for (auto& n : r.stacks.nodes) visit(n.frame);
  visit(r.stacks.fork_text);
  for (auto& t : r.topology) {
    visit(t.communicator);
    for (auto& e : t.edges) visit(e.kind), visit(e.via);
  }
}

}  // namespace holter::report
