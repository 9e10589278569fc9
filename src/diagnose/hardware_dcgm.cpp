// SPDX-License-Identifier: Apache-2.0
// What `dcgmi health` says of a GPU, by system (rules/dcgm_health.csv). A warning is weaker than a failure,
// and both are weaker than what the kernel log or the remap flags say of the same GPU.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/hardware.h"
#include "diagnose/log_failures.h"

namespace holter::diagnose {

namespace {

constexpr std::string_view kPrefix = "dcgm_health.";
constexpr double kWarning = 0.8;  // of the confidence of a failure

const std::vector<std::string>* row_of(const Context& context, std::string_view system) {
  const auto table = context.rules.tables.find("dcgm_health.csv");
  if (table == context.rules.tables.end()) return nullptr;
  for (const auto& row : table->second.rows) {
    if (row[0] == system) return &row;
  }
  return nullptr;
}

// The text that DCGM gives below the system of the same GPU.
const model::Fact* note_of(const Context& context, const model::Fact& system) {
  for (const auto* n : facts_of(context, "dcgm_health.note")) {
    if (n->at.file == system.at.file && n->subject == system.subject && n->at.pos > system.at.pos) return n;
  }
  return nullptr;
}

}  // namespace

void diagnose_dcgm_health(const Context& context, Output& output) {
  const Names names(context);
  for (const auto& fact : context.evidence.facts) {
    const auto key = context.text(fact.key);
    if (!key.starts_with(kPrefix)) continue;
    const auto* row = row_of(context, key.substr(kPrefix.size()));
    const auto state = base::lower(context.text(fact.value));
    const bool failed = state.starts_with("fail");
    if (!row || !(failed || state.starts_with("warn"))) continue;
    auto f = finding_of(context, (*row)[1]);
    f.confidence = base::to_double((*row)[2]).value_or(0.5) * (failed ? 1 : kWarning);
    f.depth = model::Depth::kReason;
    f.local = true;
    const auto node = names.node(fact.node);
    const auto index = std::string(context.text(fact.subject));
    f.culprits.push_back({.kind = model::CulpritKind::kGpu, .node = node, .gpu = index});
    const auto* note = note_of(context, fact);
    std::string system = (*row)[0];
    std::replace(system.begin(), system.end(), '_', ' ');
    f.title =
        fmt::format("GPU {}{}: DCGM reports {} for its {}", index, node.empty() ? "" : " on " + node, state, system);
    f.evidence.push_back(cite(context, fact, "health of this GPU"));
    if (note) {
      f.title += ": " + base::ellipsize(context.text(note->value), 160);
      f.evidence.push_back(cite(context, *note, "what DCGM found"));
    }
    f.actions = {{(*row)[3], (*row)[4], model::Risk::kNone}};
    f.explains_causes = {"rank_crashed", "straggler", "straggler_masked"};
    output.findings.push_back(std::move(f));
  }
}

}  // namespace holter::diagnose
