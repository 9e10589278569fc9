// SPDX-License-Identifier: Apache-2.0
// Facts, tables and lines of one diagnosis by meaning, shared by the diagnosers of configuration,
// performance, memory, numerics and serving.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

#include "analytics/columns.h"
#include "analytics/table_view.h"
#include "diagnose/diagnoser.h"

namespace holter::diagnose {

// One try with a changed condition: "NCCL_P2P_DISABLE=1 ...: ok", a row of a rerun table.
struct Experiment {
  std::string condition;
  std::string outcome;
  bool good = false;
  model::Citation citation;
};

class EvidenceView {
 public:
  explicit EvidenceView(const Context& context);

  const Context& context() const { return context_; }
  std::string_view text(model::StrId id) const { return context_.text(id); }

  // Facts with exactly this key; with this prefix; whose name has this meaning (rules/columns.csv).
  std::vector<const model::Fact*> facts(std::string_view key) const;
  std::vector<const model::Fact*> under(std::string_view prefix) const;
  std::vector<const model::Fact*> meaning(std::string_view meaning) const;
  // Settings of any origin (configuration, environment, notes) by name, matched without case.
  std::vector<const model::Fact*> settings(std::string_view pattern) const;

  std::string node(const model::Fact& fact) const;  // or the one of its file; "" unknown
  std::string value(const model::Fact& fact) const { return std::string(text(fact.value)); }
  const std::vector<analytics::TableView>& tables() const { return tables_; }
  const std::vector<Experiment>& experiments() const { return experiments_; }

  model::Citation cite(const model::Fact& fact, std::string_view why) const;
  model::Citation cite(const analytics::TableView& table, std::size_t row, std::string_view why) const;
  // Lines of any event or fact that match, at most `limit`.
  std::vector<model::Citation> lines(std::string_view pattern, std::string_view why, std::size_t limit = 3) const;
  // The pattern anywhere in the text, in any case. Compiled once for each view.
  bool matches(std::string_view text, std::string_view pattern) const;
  bool says(std::string_view pattern) const { return !lines(pattern, "", 1).empty(); }

 private:
  const re2::RE2& compiled(std::string_view pattern) const;
  void read_experiments();
  void table_experiments(const analytics::TableView& table);

  const Context& context_;
  analytics::ColumnMeanings meanings_;
  mutable std::map<std::string, std::unique_ptr<re2::RE2>, std::less<>> patterns_;
  std::vector<analytics::TableView> tables_;
  std::vector<Experiment> experiments_;
};

// A finding with the fields that most of these diagnosers set.
struct Claim {
  std::string_view cause;
  model::VerdictKind kind;
  model::Owner owner;
  double confidence;
};
model::Finding make_finding(const Claim& claim, std::string title);
void add_action(model::Finding& finding, std::string text, std::string command = {});
void add_node(model::Finding& finding, const std::string& node, const std::string& gpu = {});
void add_rank(model::Finding& finding, const Context& context, int rank);
void add_named(model::Finding& finding, model::CulpritKind kind, std::string name);
template <typename T>
void append(std::vector<T>& to, std::vector<T> from) {
  for (auto& item : from) to.push_back(std::move(item));
}

using ViewDiagnoser = void (*)(const EvidenceView&, Output&);

}  // namespace holter::diagnose
