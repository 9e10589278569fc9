// SPDX-License-Identifier: Apache-2.0
// holter.report/1. A change here is a change of docs/reference/report.schema.json.
#include "report/report.h"

#include "report/json_out.h"
#include "report/words.h"

namespace holter::report {

namespace {

const char* status_name(model::FileStatus s) {
  switch (s) {
    case model::FileStatus::kRead: return "read";
    case model::FileStatus::kPartial: return "partial";
    case model::FileStatus::kSearched: return "searched";
    case model::FileStatus::kUnread: break;
  }
  return "unread";
}

class ReportWriter {
 public:
  explicit ReportWriter(const model::Report& report) : r_(report) {}

  std::string write() {
    out_.object([this] {
      out_.field("schema", "holter.report/1");
      out_.object("tool", [this] {
        out_.field("name", "holter");
        out_.field("version", r_.tool_version);
      });
      if (r_.created_ns != 0) out_.field("created", time_text(r_.created_ns, true));
      verdict();
      decision();
      out_.field("owner", model::to_string(r_.owner));
      impact();
      job();
      out_.array("findings", r_.findings, [this](const auto& f) { finding(f); }, true);
      out_.array("ruled_out", r_.ruled_out, [this](const auto& x) { ruled_out(x); });
      evidence();
      out_.array("timeline", r_.timeline, [this](const auto& e) { event(e); });
      out_.array("calls", r_.calls, [this](const auto& c) { call(c); });
      if (!r_.ranks_without_calls.empty()) out_.field("ranks_without_calls", r_.ranks_without_calls.to_string());
      out_.array("waits", r_.waits, [this](const auto& w) { wait(w); });
      stacks();
      out_.array("topology", r_.topology, [this](const auto& t) { topology(t); });
    });
    return out_.take();
  }

 private:
  void verdict() {
    out_.object("verdict", [this] {
      out_.field("kind", model::to_string(r_.verdict.kind));
      out_.field("certainty", model::to_string(r_.verdict.certainty));
      out_.field("summary", r_.verdict.summary);
    });
  }
  void decision() {
    out_.object("decision", [this] {
      const auto& d = r_.decision;
      out_.field("restart", model::to_string(d.restart));
      out_.texts("exclude_nodes", d.exclude_nodes);
      out_.field("resume_from", d.resume_from);
      out_.field("why", d.why);
      if (d.expires_ns != 0) out_.field("expires", time_text(d.expires_ns, true));
    });
  }
  void impact() {
    const auto& i = r_.impact;
    if (!i.gpus_idle && !i.gpu_hours_lost && i.jobs.empty() && i.waiting.empty()) return;
    out_.object("impact", [&] {
      if (i.gpus_idle) out_.field("gpus_idle", std::int64_t{*i.gpus_idle});
      if (i.gpu_hours_lost) out_.key("gpu_hours_lost"), out_.real(*i.gpu_hours_lost);
      out_.texts("jobs", i.jobs);
      if (!i.waiting.empty()) out_.field("ranks_waiting", i.waiting.to_string());
    });
  }
  void job() {
    out_.object("job", [this] {
      const auto& j = r_.job;
      if (j.ranks_expected) out_.field("ranks_expected", std::int64_t{*j.ranks_expected});
      out_.field("ranks_seen", static_cast<std::int64_t>(j.ranks_seen.size()));
      out_.field("ranks_seen_set", j.ranks_seen.to_string());
      out_.array("missing_ranks", j.missing_ranks.to_vector(), [this](auto rank) { out_.number(rank); });
      out_.texts("nodes", j.nodes);
      out_.array("groups", j.groups, [this](const auto& g) {
        out_.object([&] {
          out_.field("name", g.name);
          out_.array("ranks", g.ranks, [this](auto rank) { out_.number(rank); });
          out_.field("state", g.state);
        });
      });
    });
  }

  void culprit(const model::Culprit& c) {
    out_.object([&] {
      out_.field("kind", model::to_string(c.kind));
      if (c.rank) out_.field("rank", std::int64_t{*c.rank});
      out_.field("node", c.node);
      out_.field("gpu", c.gpu);
      out_.field("peer", c.peer);
      out_.field("name", c.name);
    });
  }
  void citation(const model::Citation& c) {
    out_.object([&] {
      out_.field("id", c.id);
      out_.field("source", c.source);
      position(c.at);
      out_.field("text", c.text);
      out_.field("why", c.why);
      if (c.context.empty()) return;
      out_.object("context", [&] {
        out_.field("first_line", static_cast<std::int64_t>(c.context_first));
        out_.texts("lines", c.context);
      });
    });
  }
  void position(const model::SourceRef& at) {
    const auto pos = static_cast<std::int64_t>(at.pos);
    if (at.kind == model::PosKind::kLine) out_.field("line", pos);
    if (at.kind == model::PosKind::kRecord) out_.field("record", pos);
    if (at.kind == model::PosKind::kOffset) out_.field("offset", pos);
  }
  void citations(std::string_view name, const std::vector<model::Citation>& all) {
    out_.array(name, all, [this](const auto& c) { citation(c); });
  }
  void action(const model::Action& a) {
    out_.object([&] {
      out_.field("text", a.text);
      out_.field("command", a.command);
      out_.field("risk", model::to_string(a.risk));
    });
  }
  void finding(const model::Finding& f) {
    out_.object([&] {
      out_.field("id", f.id);
      out_.field("cause", f.cause);
      out_.field("title", f.title);
      out_.field("kind", model::to_string(f.kind));
      out_.field("role", model::to_string(f.role));
      out_.field("certainty", model::to_string(f.certainty));
      out_.key("confidence"), out_.real(f.confidence);
      out_.field("severity", model::to_string(f.severity));
      out_.field("owner", model::to_string(f.owner));
      out_.field("restart", model::to_string(f.restart));
      out_.array("culprits", f.culprits, [this](const auto& c) { culprit(c); }, true);
      out_.texts("explains", f.explains);
      citations("evidence", f.evidence);
      citations("against", f.against);
      out_.array("actions", f.actions, [this](const auto& a) { action(a); });
      out_.texts("needs", f.needs);
      out_.texts("exclude_nodes", f.exclude_nodes);
    });
  }
  void ruled_out(const model::RuledOut& x) {
    out_.object([&] {
      out_.field("cause", x.cause);
      out_.field("why", x.why);
      citations("evidence", x.evidence);
    });
  }

  void evidence() {
    out_.object("evidence", [this] {
      const auto& e = r_.evidence;
      out_.array("files", e.files, [this](const auto& f) { file(f); }, true);
      out_.texts("gaps", e.gaps);
      out_.array("problems", e.problems, [this](const auto& p) { problem(p); });
      if (e.coverage.empty()) return;
      out_.object("coverage", [&] {
        for (const auto& [what, seconds] : e.coverage) out_.key(valid_utf8(what)), out_.real(seconds);
      });
    });
  }
  void file(const model::SourceFile& f) {
    out_.object([&] {
      out_.field("path", f.path);
      out_.field("format", f.format);
      out_.field("version", f.version);
      out_.field("status", status_name(f.status));
      out_.field("bytes", static_cast<std::int64_t>(f.bytes));
      if (f.lines > 0) out_.field("lines", static_cast<std::int64_t>(f.lines));
      if (f.modified_ns != 0) out_.field("modified", time_text(f.modified_ns, true));
      if (f.counts.empty()) return;
      out_.object("counts", [&] {
        for (const auto& [what, n] : f.counts) out_.field(valid_utf8(what), static_cast<std::int64_t>(n));
      });
    });
  }
  void problem(const model::Problem& p) {
    out_.object([&] {
      const auto file = model::value(p.at.file);
      if (file < r_.evidence.files.size()) out_.field("file", r_.evidence.files[file].path);
      position(p.at);
      out_.field("what", p.what);
      out_.field("times", static_cast<std::int64_t>(p.times));
    });
  }

  void event(const model::TimelineEvent& e) {
    out_.object([&] {
      if (e.ns != 0) out_.field("time", time_text(e.ns, true));
      if (e.error_ns != 0) out_.field("error_ns", e.error_ns);
      out_.field("what", e.what);
      out_.field("who", e.who);
      out_.field("evidence", e.evidence);
    });
  }
  void call(const model::CallSpan& c) {
    out_.object([&] {
      out_.field("rank", std::int64_t{c.rank});
      out_.field("group", c.group);
      out_.field("op", c.op);
      if (c.seq >= 0) out_.field("seq", c.seq);
      if (c.start_ns != 0) out_.field("start_ns", c.start_ns);
      if (c.end_ns != 0) out_.field("end_ns", c.end_ns);
      out_.field("state", c.state);
    });
  }
  void wait(const model::WaitEdge& w) {
    out_.object([&] {
      out_.field("waiters", w.waiters.to_string());
      out_.field("waited", w.waited.to_string());
      out_.field("group", w.group);
      out_.field("op", w.op);
      if (w.seq >= 0) out_.field("seq", w.seq);
      out_.key("origin"), out_.flag(w.origin);
    });
  }
  void stacks() {
    if (r_.stacks.nodes.empty()) return;
    out_.object("stacks", [this] {
      out_.field("fork", r_.stacks.fork_text);
      out_.array("nodes", r_.stacks.nodes, [this](const auto& n) {
        out_.object([&] {
          out_.field("frame", n.frame);
          out_.field("ranks", n.ranks.to_string());
          out_.field("samples", std::int64_t{n.samples});
          out_.array("children", n.children, [this](auto child) { out_.number(child); });
          if (n.fork) out_.key("fork"), out_.flag(true);
          if (n.minority) out_.key("minority"), out_.flag(true);
        });
      });
    });
  }
  void topology(const model::Topology& t) {
    out_.object([&] {
      out_.field("communicator", t.communicator);
      out_.array("ranks", t.ranks, [this](auto rank) { out_.number(rank); });
      out_.array("edges", t.edges, [this](const auto& e) {
        out_.object([&] {
          out_.field("from", std::int64_t{e.from});
          out_.field("to", std::int64_t{e.to});
          out_.field("kind", e.kind);
          if (e.channel >= 0) out_.field("channel", std::int64_t{e.channel});
          out_.field("via", e.via);
          if (e.broken) out_.key("broken"), out_.flag(true);
        });
      });
    });
  }

  const model::Report& r_;
  JsonOut out_;
};

}  // namespace

std::string to_json(const model::Report& report) { return ReportWriter(report).write(); }

}  // namespace holter::report
