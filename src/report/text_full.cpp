// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/escape.h"
#include "report/words.h"

namespace holter::report {

namespace {

constexpr std::size_t kRows = 200;  // of any one list
constexpr std::size_t kStackDepth = 60;

class Full {
 public:
  Full(Lines& out, const model::Report& report, const TextOptions& options)
      : out_(out), r_(report), options_(options) {}

  void write() {
    if (!r_.findings.empty()) section("Findings");
    for (const auto& f : r_.findings) finding(f);
    list("Ruled out", r_.ruled_out, [this](const auto& x) { ruled_out(x); });
    list("Who waits for whom", r_.waits,
         [this](const auto& w) { out_.add("  ", wait_text(w) + (w.origin ? " (origin)" : "")); });
    stacks();
    list("Broken edges", broken_edges(), [this](const auto& text) { out_.add("  ", text); });
    list("Groups", r_.job.groups, [this](const auto& g) { group(g); });
    list("Timeline", r_.timeline, [this](const auto& e) { event(e); });
    list("Gaps", r_.evidence.gaps, [this](const auto& g) { out_.add("  - ", g); });
    list("Problems", r_.evidence.problems, [this](const auto& p) { problem(p); });
    list("Coverage", r_.evidence.coverage,
         [this](const auto& c) { out_.add("  ", fmt::format("{}: {:.1f} s", c.first, c.second)); });
    list("Files", r_.evidence.files, [this](const auto& f) { file(f); });
  }

 private:
  void section(std::string_view name) {
    out_.blank();
    out_.heading(name);
  }
  template <typename Items, typename Each>
  void list(std::string_view name, const Items& items, Each each) {
    if (items.empty()) return;
    section(items.size() > 3 ? fmt::format("{} ({})", name, count_text(items.size())) : std::string(name));
    for (std::size_t i = 0; i < items.size() && i < kRows; ++i) each(items[i]);
    if (items.size() > kRows)
      out_.add("  ", fmt::format("and {} more (-o json has all)", count_text(items.size() - kRows)));
  }

  void citation(std::string_view sign, const model::Citation& c) {
    out_.add(fmt::format("     {} {:<3} ", sign, fit(one_line(c.id), 6)),
             place(c) + (c.why.empty() ? "" : ": " + c.why), Tone::kPlain, 4);
    if (!c.text.empty()) out_.add("           ", c.text, Tone::kMuted, 6);
  }
  void finding(const model::Finding& f) {
    const auto meta =
        fmt::format("[{}, {}, confidence {:.2f}, {}]", model::to_string(f.role), spaced(model::to_string(f.certainty)),
                    f.confidence, spaced(model::to_string(f.severity)));
    out_.add(fmt::format("  {:<3} ", fit(one_line(f.id), 6)), f.title + " " + meta,
             f.role == model::Role::kRoot ? Tone::kBold : Tone::kPlain);
    std::string line = f.cause;
    if (!f.culprits.empty()) line += "; culprit " + culprits_text(f.culprits);
    if (f.owner != model::Owner::kUnknown) line += "; owner " + spaced(model::to_string(f.owner));
    if (!f.explains.empty()) line += fmt::format("; explains {}", fmt::join(f.explains, ", "));
    out_.add("      ", line);
    for (const auto& c : f.evidence) citation("+", c);
    for (const auto& c : f.against) citation("-", c);
    for (const auto& a : f.actions) {
      out_.add("     do  ", a.text + fmt::format(" [risk {}]", model::to_string(a.risk)));
      if (!a.command.empty()) out_.add("         $ ", a.command);
    }
    for (const auto& need : f.needs) out_.add("     would decide: ", need);
  }
  void ruled_out(const model::RuledOut& x) {
    out_.add("  ", x.cause + ": " + x.why);
    for (const auto& c : x.evidence) citation("-", c);
  }

  std::vector<std::string> broken_edges() const {
    std::vector<std::string> out;
    for (const auto& t : r_.topology) {
      for (const auto& e : t.edges) {
        if (!e.broken) continue;
        out.push_back(fmt::format("{} of {}: {} to {}{}{}", e.kind, t.communicator, e.from, e.to,
                                  e.channel >= 0 ? fmt::format(", channel {}", e.channel) : "",
                                  e.via.empty() ? "" : " via " + e.via));
      }
    }
    return out;
  }
  void group(const model::GroupSummary& g) {
    out_.add("  ", fmt::format("{}: {}{}", g.name, ranks_noun(model::RankSet::of(g.ranks)),
                               g.state.empty() ? "" : "; " + g.state));
  }
  void event(const model::TimelineEvent& e) {
    std::string line = e.ns == 0 ? "(no time)" : time_text(e.ns, true);
    if (e.error_ns >= 1'000'000) line += fmt::format(" +-{:.3f} s", static_cast<double>(e.error_ns) / 1e9);
    if (!e.who.empty()) line += "  " + e.who + ":";
    line += " " + e.what;
    if (!e.evidence.empty()) line += " (" + e.evidence + ")";
    out_.add("  ", line);
  }
  void problem(const model::Problem& p) {
    model::Citation at;
    at.at = p.at;
    const auto index = model::value(p.at.file);
    at.source = index < r_.evidence.files.size() ? r_.evidence.files[index].path : "";
    out_.add("  ", (at.source.empty() ? "" : place(at) + ": ") + p.what +
                       (p.times > 1 ? fmt::format(" ({} times)", count_text(p.times)) : ""));
  }
  void file(const model::SourceFile& f) {
    static constexpr const char* kStatus[] = {"", "read in part", "searched as text", "not read"};
    std::string line = f.path + ": " + (f.format.empty() ? "" : f.format + (f.version.empty() ? "" : " " + f.version));
    if (const std::string status = kStatus[static_cast<std::size_t>(f.status)]; !status.empty())
      line += (f.format.empty() ? "" : ", ") + status;
    if (f.status != model::FileStatus::kRead && !f.note.empty()) line += " (" + f.note + ")";
    for (const auto& [what, n] : f.counts) line += fmt::format(", {} {}", count_text(n), what);
    out_.add("  ", line);
  }

  // Iterative: a hostile stack can be deep. Chains without a branch are printed without deeper indent.
  void stacks() {
    const auto& nodes = r_.stacks.nodes;
    if (nodes.empty()) return;
    section("Merged stacks");
    if (!r_.stacks.fork_text.empty()) out_.add("  fork: ", r_.stacks.fork_text, Tone::kBold);
    struct Step {
      std::uint32_t node;
      std::size_t depth;
    };
    std::vector<Step> todo{{0, 0}};
    std::size_t printed = 0;
    while (!todo.empty() && printed < kRows * 2) {
      const Step at = todo.back();
      todo.pop_back();
      if (at.node >= nodes.size() || at.depth > kStackDepth) continue;
      const auto& n = nodes[at.node];
      stack_line(n, at.depth);
      ++printed;
      const std::size_t deeper = n.children.size() > 1 ? at.depth + 1 : at.depth;
      for (auto child = n.children.rbegin(); child != n.children.rend(); ++child) todo.push_back({*child, deeper});
    }
    if (!todo.empty()) out_.add("  ", "the tree goes on (-o json has all of it)");
  }
  void stack_line(const model::StackNode& n, std::size_t depth) {
    std::string lead = "  ";
    for (std::size_t i = 0; i < depth; ++i) lead += options_.unicode ? "\xE2\x94\x82 " : "| ";
    std::string line = n.frame;
    if (!n.ranks.empty()) line += "  [" + ranks_noun(n.ranks, 4) + "]";
    if (n.fork) line += options_.unicode ? "  \xE2\x97\x80 fork" : "  <-- fork";
    out_.add(lead, line, n.minority ? Tone::kCulprit : n.fork ? Tone::kBold : Tone::kPlain, 2);
  }

  Lines& out_;
  const model::Report& r_;
  const TextOptions& options_;
};

}  // namespace

void append_full(Lines& out, const model::Report& report, const TextOptions& options) {
  Full(out, report, options).write();
}

}  // namespace holter::report
