// SPDX-License-Identifier: Apache-2.0
#include "formats/rules/rules.h"

#include <cstdio>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "formats/rules/stack_rules.h"

namespace holter::rules_data {
struct File {
  const char* path;
  const char* data;
  std::size_t size;
};
extern const File kFiles[];
extern const std::size_t kFileCount;
}  // namespace holter::rules_data

namespace holter::formats::rules {

namespace {

using base::Code;
using base::fail;

base::Result<bool> read_causes(const std::string& path, const model::RuleTable& table, model::Rules& out) {
  if (table.columns.size() != 4) return fail(Code::kInvalid, path + ": want id,group,title,typical_first_symptom");
  for (const auto& row : table.rows) out.causes.push_back({row[0], row[1], row[2], row[3]});
  return true;
}

std::vector<std::string> strings_of(const toml::node_view<const toml::node>& node) {
  std::vector<std::string> out;
  if (const auto* one = node.as_string()) out.push_back(one->get());
  if (const auto* many = node.as_array()) {
    for (const auto& item : *many) {
      if (const auto* text = item.as_string()) out.push_back(text->get());
    }
  }
  return out;
}

base::Result<model::Signature> signature_of(const toml::table& row) {
  static const std::set<std::string_view> known{"id",       "pattern", "meaning", "causes", "secondary", "state",
                                                "severity", "owner",   "actions", "needs",  "note",      "example"};
  for (const auto& [key, unused] : row) {
    if (!known.contains(key.str())) return fail(Code::kInvalid, fmt::format("unknown key '{}'", key.str()));
  }
  model::Signature s;
  s.id = row["id"].value_or(std::string());
  s.patterns = strings_of(row["pattern"]);
  s.examples = strings_of(row["example"]);
  s.meaning = row["meaning"].value_or(std::string());
  s.secondary = row["secondary"].value_or(false);
  s.state = row["state"].value_or(false);
  s.severity = row["severity"].value_or(std::string());
  s.owner = row["owner"].value_or(std::string());
  s.actions = strings_of(row["actions"]);
  s.needs = strings_of(row["needs"]);
  s.source_url_or_note = row["note"].value_or(std::string());
  if (const auto* causes = row["causes"].as_table()) {
    for (const auto& [key, vote] : *causes) s.causes[std::string(key.str())] = vote.value_or(0.0);
  }
  if (s.id.empty() || s.patterns.empty() || s.meaning.empty()) {
    return fail(Code::kInvalid, fmt::format("signature '{}' needs id, pattern and meaning", s.id));
  }
  return s;
}

base::Result<bool> read_signatures(const std::string& path, std::string_view text, model::Rules& out) {
  const auto parsed = toml::parse(text, path);
  if (!parsed) {
    const auto& error = parsed.error();
    return fail(Code::kInvalid, fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()));
  }
  const auto* list = parsed.table()["signature"].as_array();
  if (!list) return fail(Code::kInvalid, path + ": no [[signature]]");
  for (const auto& item : *list) {
    const auto* row = item.as_table();
    if (!row) return fail(Code::kInvalid, path + ": signature is not a table");
    auto signature = signature_of(*row);
    if (!signature) return signature.error().within(path);
    out.signatures.push_back(std::move(*signature));
  }
  return true;
}

base::Result<bool> check(const model::Rules& rules) {
  std::set<std::string_view> ids;
  for (const auto& s : rules.signatures) {
    if (!ids.insert(s.id).second) return fail(Code::kInvalid, "signature '" + s.id + "' is there twice");
    for (const auto& [cause, vote] : s.causes) {
      if (!rules.cause(cause)) return fail(Code::kInvalid, "signature '" + s.id + "': unknown cause '" + cause + "'");
    }
  }
  for (const auto& e : rules.stacks.entries) {
    if (!e.cause.empty() && !rules.cause(e.cause)) {
      return fail(Code::kInvalid, "stack entry '" + e.id + "': unknown cause '" + e.cause + "'");
    }
  }
  return true;
}

}  // namespace

base::Result<model::RuleTable> parse_csv(std::string_view text) {
  model::RuleTable table;
  std::vector<std::string> row{""};
  bool quoted = false, any = false;
  const auto end_row = [&]() -> bool {
    if (any || row.size() > 1 || !row[0].empty()) {
      if (table.columns.empty()) table.columns = row;
      else if (row.size() != table.columns.size()) return false;
      else table.rows.push_back(row);
    }
    row = {""};
    any = false;
    return true;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') row.back() += c;
      else if (i + 1 < text.size() && text[i + 1] == '"') row.back() += text[++i];
      else quoted = false;
    } else if (c == '"') {
      quoted = any = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\n') {
      if (!end_row())
        return fail(Code::kInvalid, fmt::format("row {} has {} fields", table.rows.size() + 2, row.size()));
    } else if (c != '\r') {
      row.back() += c;
    }
  }
  if (!end_row()) return fail(Code::kInvalid, "the last row has another number of fields");
  return table;
}

FileMap builtin_files() {
  FileMap files;
  for (std::size_t i = 0; i < rules_data::kFileCount; ++i) {
    const auto& f = rules_data::kFiles[i];
    files.emplace(f.path, std::string(f.data, f.size));
  }
  return files;
}

base::Result<model::Rules> parse(const FileMap& files) {
  model::Rules rules;
  for (const auto& [path, text] : files) {
    if (path.ends_with(".csv")) {
      auto table = parse_csv(text);
      if (!table) return table.error().within(path);
      if (path == "causes.csv") {
        HOLTER_TRY([[maybe_unused]] bool ok, read_causes(path, *table, rules));
      }
      rules.tables.emplace(path, std::move(*table));
    } else if (path.starts_with("signatures/")) {
      HOLTER_TRY([[maybe_unused]] bool ok, read_signatures(path, text, rules));
    } else if (path == "stacks.toml") {
      HOLTER_TRY([[maybe_unused]] bool ok, read_stack_rules(path, text, rules));
    } else {
      rules.texts.emplace(path, text);
    }
  }
  HOLTER_TRY([[maybe_unused]] bool ok, check(rules));
  return rules;
}

const model::Rules& builtin() {
  static const model::Rules rules = [] {
    auto parsed = parse(builtin_files());
    if (!parsed) {
      std::fprintf(stderr, "holter: built-in rules: %s\n", parsed.error().to_string().c_str());
      std::abort();
    }
    return std::move(*parsed);
  }();
  return rules;
}

}  // namespace holter::formats::rules
