// SPDX-License-Identifier: Apache-2.0
// Memory over time, steps or requests: a leak follows the work and stops with it; growth that ends is
// none (facts: incidents 4, rule 11).
#include <cmath>

#include <fmt/format.h>

#include "analytics/stats.h"
#include "base/strings.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

using analytics::TableView;

struct Series {
  const TableView* table;
  int memory = -1, driver = -1;  // columns; driver: step, requests or time
  bool device = false;           // allocated GPU memory
  bool by_requests = false;
  std::vector<double> x, y;
};

std::vector<double> progress(const TableView& t, int column, bool time) {
  return time ? t.times(column) : t.numbers(column);
}

std::vector<Series> series_of(const EvidenceView& view) {
  std::vector<Series> out;
  for (const auto& t : view.tables()) {
    if (t.rows() < 4) continue;
    int driver = t.column("requests");
    const bool by_requests = driver >= 0;
    if (driver < 0) driver = t.column("step");
    const bool time = driver < 0;
    if (time) driver = t.column("time");
    if (driver < 0) continue;
    for (const char* meaning : {"allocated", "host_memory", "gpu_memory"}) {
      for (const int c : t.columns(meaning)) {
        if (c == driver || base::contains_ignore_case(t.name(c), "limit")) continue;
        Series s{
            &t,          c, driver, std::string_view(meaning) != "host_memory", by_requests, progress(t, driver, time),
            t.numbers(c)};
        out.push_back(std::move(s));
      }
    }
  }
  return out;
}

// Rows during which requests (or steps) do not advance: memory must stand still if the work leaks.
bool flat_when_idle(const Series& s, std::size_t* row) {
  const int requests = s.table->column("requests") >= 0 ? s.table->column("requests") : s.table->column("step");
  const int phase = s.table->column("phase");
  double idle_growth = 0, busy_growth = 0;
  std::size_t idle = 0, busy = 0;
  for (std::size_t r = 1; r < s.y.size(); ++r) {
    const double d = s.y[r] - s.y[r - 1];
    bool is_idle = phase >= 0 && base::contains_ignore_case(s.table->text(r, phase), "idle");
    if (requests >= 0) {
      const auto a = s.table->number(r - 1, requests), b = s.table->number(r, requests);
      is_idle = is_idle || (a && b && *a == *b);
    }
    (is_idle ? idle_growth : busy_growth) += d;
    ++(is_idle ? idle : busy);
    if (is_idle) *row = r;
  }
  if (idle == 0 || busy == 0) return false;
  return idle_growth / static_cast<double>(idle) < 0.15 * busy_growth / static_cast<double>(busy);
}

std::string unit_of(std::string_view name) {
  const auto n = base::lower(name);
  for (const char* u : {"gib", "mib", "kib", "gb", "mb", "kb"}) {
    if (n.find(u) != std::string::npos)
      return std::string(" ") + (u[1] == 'i' ? std::string(1, static_cast<char>(u[0] - 32)) + "iB"
                                             : std::string(1, static_cast<char>(u[0] - 32)) + "B");
  }
  return "";
}

// Who keeps the memory: Python objects that grow with it are the application's.
bool objects_grow(const Series& s) {
  for (const int c : s.table->columns("objects")) {
    const auto t = analytics::trend(s.x, s.table->numbers(c));
    if (analytics::is_steady_growth(t, 0.1)) return true;
  }
  return false;
}

model::Finding leak(const EvidenceView& view, const Series& s, const analytics::Trend& t, Output& out) {
  const bool app = objects_grow(s) || (s.device && !s.by_requests) ||
                   view.says(
                       "(append|accumulat|retain|history|list|cache)[a-z]* "
                       ".*(loss|graph|tensor|output)|retain_graph|loss \\+= loss|total_loss \\+=");
  std::size_t idle_row = 0;
  const bool idle = flat_when_idle(s, &idle_row);
  auto f = make_finding({app ? "app_leak" : "framework_leak", model::VerdictKind::kMemory,
                         app ? model::Owner::kUserCode : model::Owner::kFramework, idle || app ? 0.78 : 0.66},
                        "");
  const auto unit = unit_of(s.table->name(s.memory));
  const auto driver = s.table->name(s.driver);
  f.title = fmt::format("{} grows without end, from {:.4g}{} to {:.4g}{} ({:.3g}{} per {}{})", s.table->name(s.memory),
                        t.first, unit, t.last, unit, t.slope * (s.by_requests ? 1000 : 1), unit,
                        s.by_requests ? "1000 " : "", driver);
  if (idle) f.title += "; it stands still while no work is done: a leak per request or step";
  f.evidence.push_back(view.cite(*s.table, 0, "start of the growth"));
  f.evidence.push_back(view.cite(*s.table, s.y.size() - 1, "end of the growth, no plateau"));
  if (idle) f.evidence.push_back(view.cite(*s.table, idle_row, "no growth while idle"));
  add_named(f, model::CulpritKind::kSoftware,
            app ? "application: references kept alive" : "framework or driver path of the server");
  if (app)
    add_action(f, "Find the references that are kept (detach tensors before storing them, bound caches and lists)",
               "torch.cuda.memory._record_memory_history(); compare two snapshots");
  else
    add_action(f,
               "Bisect the version and the feature in use (cache, multimodal input, metrics); restart on a "
               "memory threshold until it is fixed",
               "compare heap profiles after N and 2N requests (memray, jemalloc prof)");
  f.needs.push_back("a heap profile at two points of the growth names the code");
  out.ruled_out.push_back({"not_a_leak",
                           fmt::format("the growth does not end: the last third has {:.0f}% of the overall slope",
                                       100 * t.late_slope / t.slope),
                           {}});
  return f;
}

model::Finding plateau(const EvidenceView& view, const Series& s, const analytics::Trend& t) {
  const auto unit = unit_of(s.table->name(s.memory));
  auto f = make_finding({"not_a_leak", model::VerdictKind::kNone, model::Owner::kUnknown, 0.72},
                        fmt::format("No leak: {} grew from {:.4g}{} to a plateau of {:.4g}{} and stayed "
                                    "there (warm-up of caches and pools)",
                                    s.table->name(s.memory), t.first, unit, t.last, unit));
  f.severity = model::Severity::kInfo;
  f.restart = model::Restart::kNo;
  f.evidence.push_back(view.cite(*s.table, 0, "start of the growth"));
  f.evidence.push_back(view.cite(*s.table, s.y.size() * 2 / 3, "here it has ended"));
  f.evidence.push_back(view.cite(*s.table, s.y.size() - 1, "still the same"));
  add_action(f, "None; alert on the slope over hours of steady load, not on the level");
  return f;
}

}  // namespace

void diagnose_memory_growth(const EvidenceView& view, Output& out) {
  bool found_leak = false, reserved = false;
  std::vector<model::Finding> plateaus;
  for (const auto& s : series_of(view)) {
    const auto t = analytics::trend(s.x, s.y);
    reserved = reserved || s.table->column("reserved") >= 0;
    if (analytics::is_steady_growth(t, 0.15)) {
      // Host memory that ends in the OOM killer is that diagnoser's finding; the slope supports it.
      auto f = leak(view, s, t, out);
      if (!s.device && view.says("oom-kill|Killed process|oom_kill")) {
        f.confidence = 0.5;
        f.depth = model::Depth::kMechanism;
      }
      out.findings.push_back(std::move(f));
      found_leak = true;
    } else if (analytics::is_plateau(t) && t.growth() > 0.1 * t.first) {
      plateaus.push_back(plateau(view, s, t));
    }
  }
  if (!found_leak && !plateaus.empty() && !view.says("out of memory|oom-kill"))
    out.findings.push_back(std::move(plateaus.front()));
}

}  // namespace holter::diagnose
