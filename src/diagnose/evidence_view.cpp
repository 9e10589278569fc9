// SPDX-License-Identifier: Apache-2.0
#include "diagnose/evidence_view.h"

#include "diagnose/experiment_metrics.h"

#include <algorithm>
#include <set>

#include <re2/re2.h>

#include "base/strings.h"

namespace holter::diagnose {

namespace {

constexpr std::size_t kMaxEvents = 100'000;
constexpr std::size_t kMaxExperimentRows = 200;

re2::StringPiece piece(std::string_view s) { return {s.data(), s.size()}; }

bool is_setting_key(std::string_view key) {
  return key.starts_with("kv.") || key.starts_with("config.") || key.starts_with("env.") ||
         key.starts_with("metric.") || key.starts_with("inventory.");
}

// What an outcome says: 1 good, 0 bad, -1 nothing. Patterns in order, from rules/outcomes.csv.
int judge(const EvidenceView& view, std::string_view outcome) {
  const auto& rules = view.context().rules;
  const auto table = rules.tables.find("outcomes.csv");
  if (table == rules.tables.end()) return -1;
  for (const auto& row : table->second.rows) {
    if (row.size() == 2 && (row[0] == "good" || row[0] == "bad") && view.matches(outcome, row[1]))
      return row[0] == "good" ? 1 : 0;
  }
  return -1;
}

}  // namespace

EvidenceView::EvidenceView(const Context& context) : context_(context), meanings_(context.rules) {
  for (const auto& table : context.evidence.tables) tables_.emplace_back(context.evidence, table, meanings_);
  read_experiments();
}

std::vector<const model::Fact*> EvidenceView::facts(std::string_view key) const {
  std::vector<const model::Fact*> out;
  for (const auto& f : context_.evidence.facts) {
    if (text(f.key) == key) out.push_back(&f);
  }
  return out;
}

std::vector<const model::Fact*> EvidenceView::under(std::string_view prefix) const {
  std::vector<const model::Fact*> out;
  for (const auto& f : context_.evidence.facts) {
    if (text(f.key).starts_with(prefix)) out.push_back(&f);
  }
  return out;
}

std::vector<const model::Fact*> EvidenceView::meaning(std::string_view meaning) const {
  std::vector<const model::Fact*> out;
  for (const auto& f : context_.evidence.facts) {
    const auto key = text(f.key);
    if (is_setting_key(key) && meanings_.is(meaning, key.substr(key.find('.') + 1))) out.push_back(&f);
  }
  return out;
}

const re2::RE2& EvidenceView::compiled(std::string_view pattern) const {
  auto found = patterns_.find(pattern);
  if (found == patterns_.end())
    found =
        patterns_
            .emplace(std::string(pattern), std::make_unique<re2::RE2>("(?i)" + std::string(pattern), re2::RE2::Quiet))
            .first;
  return *found->second;
}

bool EvidenceView::matches(std::string_view text, std::string_view pattern) const {
  return re2::RE2::PartialMatch(piece(text), compiled(pattern));
}

std::vector<const model::Fact*> EvidenceView::settings(std::string_view pattern) const {
  const auto& regex = compiled(pattern);
  std::vector<const model::Fact*> out;
  for (const auto& f : context_.evidence.facts) {
    const auto key = text(f.key);
    if (is_setting_key(key) && re2::RE2::PartialMatch(piece(key.substr(key.find('.') + 1)), regex)) out.push_back(&f);
  }
  return out;
}

std::string EvidenceView::node(const model::Fact& fact) const {
  if (fact.node != model::StrId::kEmpty) return std::string(text(fact.node));
  if (fact.at.file == model::FileId::kNone) return {};
  return std::string(text(context_.evidence.files[model::value(fact.at.file)].name_node));
}

model::Citation EvidenceView::cite(const model::Fact& fact, std::string_view why) const {
  return diagnose::cite(context_, fact.at, text(fact.text), why);
}

model::Citation EvidenceView::cite(const analytics::TableView& table, std::size_t row, std::string_view why) const {
  return diagnose::cite(context_, table.at(row), base::ellipsize(table.row_text(row), 400), why);
}

std::vector<model::Citation> EvidenceView::lines(std::string_view pattern, std::string_view why,
                                                 std::size_t limit) const {
  const auto& regex = compiled(pattern);
  std::vector<model::Citation> out;
  std::set<model::StrId> seen;
  const auto take = [&](model::SourceRef at, model::StrId id) {
    if (out.size() < limit && seen.insert(id).second && re2::RE2::PartialMatch(piece(text(id)), regex)) {
      out.push_back(diagnose::cite(context_, at, text(id), why));
    }
  };
  std::size_t n = 0;
  for (const auto& e : context_.evidence.events) {
    if (++n > kMaxEvents || out.size() >= limit) break;
    take(e.at, e.text);
  }
  for (const auto& f : context_.evidence.facts) {
    if (out.size() >= limit) break;
    take(f.at, f.text);
  }
  return out;
}

void EvidenceView::read_experiments() {
  std::vector<Experiment> open;  // whose words say neither good nor bad
  for (const auto& f : context_.evidence.facts) {
    const auto key = text(f.key);
    if (!key.starts_with("kv.") && key != "note") continue;
    // A sentence is its own condition and outcome ("moved to gn4: fine", "with overlap off no NaN").
    const auto condition = key == "note" ? text(f.text) : text(f.subject);
    const auto outcome = key == "note" ? text(f.text) : text(f.value);
    const int verdict = judge(*this, outcome);
    Experiment e{std::string(condition), std::string(outcome), verdict == 1, cite(f, "an experiment")};
    (verdict >= 0 ? experiments_ : open).push_back(std::move(e));
  }
  for (auto& e : judge_by_metric(context_.rules, std::move(open))) experiments_.push_back(std::move(e));
  for (const auto& table : tables_) table_experiments(table);
}

// A row is an experiment when one column says what was changed and one how it went.
void EvidenceView::table_experiments(const analytics::TableView& table) {
  const int condition = table.column("condition");
  int outcome = table.column("outcome");
  if (outcome < 0) outcome = table.column("nan");
  if (condition < 0 || outcome < 0 || condition == outcome || table.rows() > kMaxExperimentRows) return;
  const auto name = base::lower(table.name(outcome));
  const bool names_fault = re2::RE2::PartialMatch(name, "nan|inf|hang|fail|crash|error");
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const auto said = base::lower(table.text(r, outcome));
    int verdict = -1;
    const bool yes = said == "yes" || said == "true" || said == "1" || said == "y";
    const bool no = said == "no" || said == "false" || said == "0" || said == "n" || said == "none" || said == "-";
    if (yes || no) verdict = yes != names_fault ? 1 : 0;
    else if (const auto n = table.number(r, outcome); names_fault && n) verdict = *n == 0 ? 1 : 0;
    else verdict = judge(*this, said);
    if (verdict < 0) continue;
    std::string what = std::string(table.name(condition)) + "=" + std::string(table.text(r, condition));
    experiments_.push_back({std::move(what), std::string(table.name(outcome)) + "=" + std::string(said), verdict == 1,
                            cite(table, r, "an experiment")});
  }
}

model::Finding make_finding(const Claim& claim, std::string title) {
  model::Finding f;
  f.cause = claim.cause;
  f.kind = claim.kind;
  f.owner = claim.owner;
  f.confidence = claim.confidence;
  f.title = std::move(title);
  f.depth = model::Depth::kReason;
  f.local = true;
  f.restart = model::Restart::kAfterEvidence;
  return f;
}

void add_action(model::Finding& finding, std::string text, std::string command) {
  finding.actions.push_back({std::move(text), std::move(command), model::Risk::kLow});
}

void add_node(model::Finding& finding, const std::string& node, const std::string& gpu) {
  if (node.empty() && gpu.empty()) return;
  model::Culprit c;
  c.kind = gpu.empty() ? model::CulpritKind::kNode : model::CulpritKind::kGpu;
  c.node = node;
  c.gpu = gpu;
  for (const auto& other : finding.culprits) {
    if (other.kind == c.kind && other.node == node && other.gpu == gpu) return;
  }
  finding.culprits.push_back(std::move(c));
}

void add_rank(model::Finding& finding, const Context& context, int rank) {
  model::Culprit c;
  c.kind = model::CulpritKind::kRank;
  c.rank = rank;
  if (const auto node = context.job.node_of.find(rank); node != context.job.node_of.end()) c.node = node->second;
  finding.culprits.push_back(std::move(c));
  finding.ranks.insert(rank);
}

void add_named(model::Finding& finding, model::CulpritKind kind, std::string name) {
  model::Culprit c;
  c.kind = kind;
  c.name = std::move(name);
  finding.culprits.push_back(std::move(c));
}

}  // namespace holter::diagnose
