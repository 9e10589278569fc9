// SPDX-License-Identifier: Apache-2.0
#include "formats/rules/stack_rules.h"

#include <optional>
#include <set>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace holter::formats::rules {

namespace {

using base::Code;
using base::fail;
using Node = toml::node_view<const toml::node>;

std::vector<std::string> strings_of(const Node& node) {
  std::vector<std::string> out;
  if (const auto* one = node.as_string()) out.push_back(one->get());
  if (const auto* many = node.as_array()) {
    for (const auto& item : *many) {
      if (const auto* text = item.as_string()) out.push_back(text->get());
    }
  }
  return out;
}

std::optional<model::StackRule::Kind> kind_of(std::string_view name) {
  using Kind = model::StackRule::Kind;
  static constexpr std::pair<std::string_view, Kind> kNames[] = {
      {"collective", Kind::kCollective}, {"device", Kind::kDevice}, {"reason", Kind::kReason},
      {"phase", Kind::kPhase},           {"lock", Kind::kLock},     {"neutral", Kind::kNeutral}};
  for (const auto& [text, kind] : kNames) {
    if (text == name) return kind;
  }
  return std::nullopt;
}

base::Result<model::StackRule> entry_of(const toml::table& row) {
  static const std::set<std::string_view> known{"id",          "kind",       "pattern", "also",  "meaning",
                                                "cause",       "confidence", "owner",   "phase", "long_work",
                                                "inside_call", "actions",    "needs"};
  model::StackRule e;
  e.id = row["id"].value_or(std::string());
  for (const auto& [key, unused] : row) {
    if (!known.contains(key.str()))
      return fail(Code::kInvalid, fmt::format("stack entry '{}': unknown key '{}'", e.id, key.str()));
  }
  const auto kind = kind_of(row["kind"].value_or(std::string_view()));
  e.patterns = strings_of(row["pattern"]);
  e.also = strings_of(row["also"]);
  e.meaning = row["meaning"].value_or(std::string());
  e.cause = row["cause"].value_or(std::string());
  e.confidence = row["confidence"].value_or(0.5);
  e.owner = row["owner"].value_or(std::string());
  e.phase = row["phase"].value_or(std::string());
  e.long_work = row["long_work"].value_or(false);
  e.inside_call = row["inside_call"].value_or(false);
  e.actions = strings_of(row["actions"]);
  e.needs = strings_of(row["needs"]);
  if (e.id.empty() || !kind || e.patterns.empty() || e.meaning.empty()) {
    return fail(Code::kInvalid, fmt::format("stack entry '{}' needs id, kind, pattern and meaning", e.id));
  }
  if ((*kind == model::StackRule::Kind::kReason) == e.cause.empty()) {
    return fail(Code::kInvalid, fmt::format("stack entry '{}': a reason, and only a reason, has a cause", e.id));
  }
  e.kind = *kind;
  return e;
}

}  // namespace

base::Result<bool> read_stack_rules(const std::string& path, std::string_view text, model::Rules& out) {
  const auto parsed = toml::parse(text, path);
  if (!parsed) {
    const auto& error = parsed.error();
    return fail(Code::kInvalid, fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()));
  }
  const toml::table& table = parsed.table();
  auto& rules = out.stacks;
  rules = {};
  rules.main_threads = strings_of(Node(table["threads"]["main"]));
  rules.worker_threads = strings_of(Node(table["threads"]["worker"]));
  rules.helper_threads = strings_of(Node(table["threads"]["helper"]));
  rules.interpreter_frames = strings_of(Node(table["frames"]["interpreter"]));
  rules.library_files = strings_of(Node(table["frames"]["library"]));
  std::set<std::string> ids;
  if (const auto* list = table["stack"].as_array()) {
    for (const auto& item : *list) {
      const auto* row = item.as_table();
      if (!row) return fail(Code::kInvalid, path + ": a stack entry is not a table");
      auto entry = entry_of(*row);
      if (!entry) return entry.error().within(path);
      if (!ids.insert(entry->id).second) return fail(Code::kInvalid, path + ": '" + entry->id + "' is there twice");
      rules.entries.push_back(std::move(*entry));
    }
  }
  return true;
}

}  // namespace holter::formats::rules
