// SPDX-License-Identifier: Apache-2.0
// Devices that run below their speed: PCIe link below its maximum under load, throttling, low clocks.
// Idle Gen1 and a software power cap at full power are normal (facts: incidents 2, row pcie/power).
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analytics/stats.h"
#include "base/strings.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

using analytics::TableView;

std::string label(const TableView& t, std::size_t row, int column) {
  return column < 0 ? std::string() : std::string(t.text(row, column));
}

// Where a row stands: node, GPU and rank as far as the table names them.
struct Place {
  std::string node, gpu;
  int rank = -1;
  std::string text() const {
    std::string out = node;
    if (!gpu.empty()) out += (out.empty() ? "GPU " : " GPU ") + gpu;
    if (rank >= 0) out += fmt::format("{}rank {}", out.empty() ? "" : " ", rank);
    return out.empty() ? "one GPU" : out;
  }
};

Place place_of(const TableView& t, std::size_t row) {
  Place p{label(t, row, t.column("node")), label(t, row, t.column("gpu")), -1};
  if (const int rank = t.column("rank"); rank >= 0) p.rank = static_cast<int>(t.number(row, rank).value_or(-1));
  return p;
}

void name_place(model::Finding& f, const Context& context, const Place& p) {
  if (p.rank >= 0) add_rank(f, context, p.rank);
  add_node(f, p.node, p.gpu);
}

// Under load: the table says so by power, utilisation or P-state; a table that only lists a measured
// column (copy bandwidth) was taken under load.
bool under_load(const TableView& t, std::size_t row) {
  if (const int p = t.column("pstate"); p >= 0) return base::trim(t.text(row, p)) == "P0";
  if (const int u = t.column("util"); u >= 0) return t.number(row, u).value_or(0) >= 20;
  if (const int p = t.column("power"); p >= 0) return t.number(row, p).value_or(0) >= 150;
  return t.column("host_copy") >= 0 || t.column("step_time") >= 0 ||
         base::contains_ignore_case(t.name(t.column("pcie_gen") < 0 ? t.column("pcie_width") : t.column("pcie_gen")),
                                    "load");
}

void pcie_claim(const EvidenceView& view, const Place& place, const std::string& now, const std::string& max,
                std::vector<model::Citation> evidence, double confidence, Output& out) {
  auto f = make_finding(
      {"pcie_link_degraded", model::VerdictKind::kSlow, model::Owner::kPlatform, confidence},
      fmt::format("The PCIe link of {} runs at {} under load, its maximum is {}: host copies are slow there",
                  place.text(), now, max));
  f.severity = model::Severity::kDegraded;
  f.evidence = std::move(evidence);
  name_place(f, view.context(), place);
  if (f.culprits.empty()) add_named(f, model::CulpritKind::kGpu, "PCIe link");
  add_action(f,
             "Drain the node and reseat or replace riser, cable or card of that slot; check the BIOS link "
             "setting; retrain by a cold reboot",
             "nvidia-smi "
             "--query-gpu=index,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,pcie.link."
             "width.max,pstate --format=csv");
  f.explains_causes = {"straggler", "straggler_masked"};
  out.findings.push_back(std::move(f));
}

void pcie_tables(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    const int gen = t.column("pcie_gen"), width = t.column("pcie_width");
    if (gen < 0 && width < 0) continue;
    const int gen_max = t.column("pcie_gen_max"), width_max = t.column("pcie_width_max");
    double best_gen = 0, best_width = 0;
    for (std::size_t r = 0; r < t.rows(); ++r) {
      if (gen >= 0) best_gen = std::max(best_gen, t.number(r, gen).value_or(0));
      if (width >= 0) best_width = std::max(best_width, t.number(r, width).value_or(0));
    }
    for (std::size_t r = 0; r < t.rows(); ++r) {
      if (!under_load(t, r)) continue;
      const double g = gen < 0 ? 0 : t.number(r, gen).value_or(0), w = width < 0 ? 0 : t.number(r, width).value_or(0);
      const double gm = gen_max >= 0 ? t.number(r, gen_max).value_or(best_gen) : best_gen;
      const double wm = width_max >= 0 ? t.number(r, width_max).value_or(best_width) : best_width;
      const bool low = (g > 0 && g < gm) || (w > 0 && w < wm);
      if (!low) continue;
      pcie_claim(view, place_of(t, r), fmt::format("Gen{:.0f}{}", g, w > 0 ? fmt::format(" x{:.0f}", w) : ""),
                 fmt::format("Gen{:.0f}{}", gm, wm > 0 ? fmt::format(" x{:.0f}", wm) : ""),
                 {view.cite(t, r, "current below maximum while the GPU works")}, 0.85, out);
      return;
    }
  }
}

// nvidia-smi -q: performance state, link generation and width per GPU.
void pcie_query(const EvidenceView& view, Output& out) {
  struct Link {
    double gen = 0, gen_max = 0, width = 0, width_max = 0;
    std::string pstate;
    const model::Fact* fact = nullptr;
  };
  std::map<std::pair<std::string, std::string>, Link> links;
  for (const auto* f : view.under("smi.")) {
    auto& l = links[{view.node(*f), std::string(view.text(f->subject))}];
    const auto key = view.text(f->key);
    const auto number = [&] {
      return base::to_double(
                 std::string(view.text(f->value)).substr(0, std::string(view.text(f->value)).find_first_of("x ")))
          .value_or(0);
    };
    if (key.find("pcie_generation") != std::string_view::npos) {
      if (key.ends_with(".current")) l.gen = number(), l.fact = f;
      if (key.ends_with(".max")) l.gen_max = number();
    } else if (key.find("link_width") != std::string_view::npos) {
      if (key.ends_with(".current")) l.width = number();
      if (key.ends_with(".max")) l.width_max = number();
    } else if (key == "smi.performance_state") {
      l.pstate = view.value(*f);
    }
  }
  for (const auto& [who, l] : links) {
    if (!l.fact || l.pstate != "P0") continue;  // idle links drop to Gen1
    if (!((l.gen > 0 && l.gen < l.gen_max) || (l.width > 0 && l.width < l.width_max))) continue;
    pcie_claim(view, {who.first, who.second, -1}, fmt::format("Gen{:.0f} x{:.0f}", l.gen, l.width),
               fmt::format("Gen{:.0f} x{:.0f}", l.gen_max, l.width_max),
               {view.cite(*l.fact, "current below maximum in P0")}, 0.8, out);
  }
}

enum class Reason { kNone, kBrake, kThermal, kPowerCap, kSlowdown };

Reason reason_of(std::string_view text) {
  const auto t = base::lower(text);
  const auto has = [&](const char* word) { return t.find(word) != std::string::npos; };
  if (has("brake")) return Reason::kBrake;
  if (has("thermal")) return Reason::kThermal;
  if (has("hw_slowdown") || has("hw slowdown") || has("hardware slowdown")) return Reason::kSlowdown;
  if (has("power_cap") || has("power cap") || has("sw_power")) return Reason::kPowerCap;
  // Bit masks: 0x8 hw slowdown, 0x20 sw thermal, 0x40 hw thermal, 0x80 power brake, 0x4 software cap.
  if (t.starts_with("0x")) {
    const auto bits = base::to_int<std::uint64_t>(std::string_view(t).substr(2), 16).value_or(0);
    if (bits & 0x80) return Reason::kBrake;
    if (bits & 0x60) return Reason::kThermal;
    if (bits & 0x8) return Reason::kSlowdown;
    if (bits & 0x4) return Reason::kPowerCap;
  }
  return Reason::kNone;
}

const char* words(Reason r) {
  return r == Reason::kBrake      ? "hardware power brake"
         : r == Reason::kThermal  ? "thermal slowdown"
         : r == Reason::kPowerCap ? "software power cap"
                                  : "hardware slowdown";
}

void throttle_claim(const EvidenceView& view, const std::vector<Place>& places, Reason reason,
                    const std::string& numbers, std::vector<model::Citation> evidence, Output& out) {
  std::string who;
  for (std::size_t i = 0; i < std::min<std::size_t>(places.size(), 8); ++i) who += (i ? ", " : "") + places[i].text();
  auto f = make_finding({"power_throttle", model::VerdictKind::kSlow, model::Owner::kPlatform, 0.85},
                        fmt::format("{}: {} holds the clocks down{}", who, words(reason), numbers));
  f.severity = model::Severity::kDegraded;
  f.evidence = std::move(evidence);
  append(
      f.evidence,
      view.lines(
          R"((PSU|power supply|redundancy lost|power brake|over temperature|fan).*(fail|lost|assert|critical|brake))",
          "the management controller says why", 2));
  for (const auto& p : places) name_place(f, view.context(), p);
  if (f.culprits.empty()) add_named(f, model::CulpritKind::kGpu, words(reason));
  add_action(f,
             reason == Reason::kThermal
                 ? "Drain the node and check cooling: fans, air flow, inlet temperature, heat sinks"
                 : "Check power: supplies and feeds of the chassis, power-brake signal, BMC event log; drain "
                   "the node meanwhile",
             "nvidia-smi -q -d PERFORMANCE,POWER,TEMPERATURE; ipmitool sel elist");
  f.explains_causes = {"straggler", "straggler_masked", "gpu_hw_degraded"};
  out.findings.push_back(std::move(f));
}

void throttle_tables(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    const int reason = t.column("throttle");
    if (reason < 0) continue;
    const int clock = t.column("sm_clock"), power = t.column("power"), limit = t.column("power_limit");
    std::vector<double> clocks = clock < 0 ? std::vector<double>() : t.numbers(clock);
    const double top = analytics::quantile(clocks, 0.9);
    std::map<std::string, std::pair<Place, std::size_t>> held;
    Reason worst = Reason::kNone;
    std::string numbers;
    std::vector<model::Citation> evidence;
    for (std::size_t r = 0; r < t.rows(); ++r) {
      auto why = reason_of(t.text(r, reason));
      const auto said = base::lower(t.text(r, reason));
      const bool flag = (said == "1" || said == "active" || said == "yes" || said == "true");
      if (why == Reason::kNone && flag) why = reason_of(t.name(reason));
      if (why == Reason::kNone && flag) why = Reason::kSlowdown;
      if (why == Reason::kNone) continue;
      const double c = clock < 0 ? 0 : clocks[r], p = power < 0 ? -1 : t.number(r, power).value_or(-1);
      const double cap = limit < 0 ? 0 : t.number(r, limit).value_or(0);
      // A software cap at full power is how power limits work; only below it, it is a fault.
      if (why == Reason::kPowerCap && (p < 0 || (cap > 0 ? p > 0.8 * cap : p > 250) || (clock >= 0 && c > 0.85 * top)))
        continue;
      const auto place = place_of(t, r);
      if (!held.emplace(place.text(), std::pair(place, r)).second) continue;
      if (worst == Reason::kNone) {
        worst = why;
        if (clock >= 0)
          numbers +=
              fmt::format(" at {:.0f} MHz{}", c, top > c ? fmt::format(" against {:.0f} MHz on the others", top) : "");
        if (p >= 0) numbers += fmt::format(", drawing {:.0f} W", p);
      }
      if (evidence.size() < 3) evidence.push_back(view.cite(t, r, "the driver's reason for the clocks"));
    }
    if (held.empty()) continue;
    std::vector<Place> places;
    for (const auto& [text, entry] : held) places.push_back(entry.first);
    throttle_claim(view, places, worst, numbers, std::move(evidence), out);
  }
}

// nvidia-smi -q: several reasons of one GPU are active together; brake and thermal say more than slowdown.
void throttle_query(const EvidenceView& view, Output& out) {
  std::map<std::pair<std::string, std::string>, std::pair<Reason, const model::Fact*>> held;
  for (const auto* f : view.under("smi.clocks")) {
    const auto key = view.text(f->key);
    if (key.find("event_reasons") == std::string_view::npos && key.find("throttle_reasons") == std::string_view::npos)
      continue;
    if (view.text(f->value) != "Active") continue;
    const auto why = reason_of(key.substr(key.rfind('.') + 1));
    if (why == Reason::kNone || why == Reason::kPowerCap) continue;
    auto& entry = held.try_emplace({view.node(*f), std::string(view.text(f->subject))}, why, f).first->second;
    if (why < entry.first) entry = {why, f};
  }
  for (const auto reason : {Reason::kBrake, Reason::kThermal, Reason::kSlowdown}) {
    std::vector<Place> places;
    std::vector<model::Citation> evidence;
    for (const auto& [where, entry] : held) {
      if (entry.first != reason) continue;
      places.push_back({where.first, where.second, -1});
      if (evidence.size() < 3) evidence.push_back(view.cite(*entry.second, "the driver's reason for the clocks"));
    }
    if (!places.empty()) throttle_claim(view, places, reason, "", std::move(evidence), out);
  }
}

// A GEMM or clock far below the other devices without any reason given.
void slow_device(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    const int rate = t.column("gemm_rate");
    if (rate < 0 || t.rows() < 4) continue;
    const auto rates = t.numbers(rate);
    const double middle = analytics::median(rates), noise = std::max(analytics::spread(rates), 0.02 * middle);
    for (std::size_t r = 0; r < t.rows(); ++r) {
      if (!(rates[r] < middle - 4 * noise && rates[r] < 0.9 * middle)) continue;
      const auto place = place_of(t, r);
      auto f = make_finding({"gpu_hw_degraded", model::VerdictKind::kSlow, model::Owner::kPlatform, 0.66},
                            fmt::format("{} computes at {:.0f} {} where the others reach {:.0f}", place.text(),
                                        rates[r], t.name(rate), middle));
      f.severity = model::Severity::kDegraded;
      f.evidence = {view.cite(t, r, "the slow device"), view.cite(t, r == 0 ? 1 : 0, "another device")};
      name_place(f, view.context(), place);
      add_action(f,
                 "Read clocks, throttle reasons and row remaps of that GPU under load; run the vendor "
                 "diagnostics; swap the rank to another GPU to see whether it follows",
                 "dcgmi diag -r 3");
      f.explains_causes = {"straggler", "straggler_masked"};
      out.findings.push_back(std::move(f));
    }
  }
}

}  // namespace

void diagnose_device_speed(const EvidenceView& view, Output& out) {
  pcie_tables(view, out);
  pcie_query(view, out);
  throttle_tables(view, out);
  throttle_query(view, out);
  slow_device(view, out);
}

}  // namespace holter::diagnose
