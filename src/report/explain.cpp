// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "report/json_out.h"
#include "report/lines.h"
#include "report/words.h"

namespace holter::report {

namespace {

struct FaultTable {
  std::string_view kind, path;
  std::string_view title_columns[2];  // the first that is not empty
};
constexpr FaultTable kFaultTables[] = {{"xid", "xid/xid.csv", {"meaning", "mnemonic"}},
                                       {"sxid", "xid/sxid.csv", {"name", "driver_enum"}}};

// "Xid: 79" -> {"xid", "79"}; a number alone has no kind.
std::pair<std::string, std::string> split_number(std::string_view word) {
  const std::string text = base::lower(base::trim(word));
  const auto digits = text.find_first_of("0123456789");
  if (digits == std::string::npos) return {};
  std::string kind = text.substr(0, digits), number = text.substr(digits);
  while (!kind.empty() && std::string_view(" :_-#(").find(kind.back()) != std::string_view::npos) kind.pop_back();
  if (!base::to_int<int>(number) || (!kind.empty() && kind != "xid" && kind != "sxid")) return {};
  return {kind, number};
}

// "applies_to(A=A100,H=H100)" -> "applies to"
std::string column_name(std::string_view column) { return spaced(column.substr(0, column.find('('))); }

Knowledge fault(const FaultTable& known, const model::RuleTable& table, const std::vector<std::string>& row) {
  Knowledge out{std::string(known.kind), row[0], "", {}};
  for (std::size_t i = 1; i < row.size() && i < table.columns.size(); ++i) {
    if (row[i].empty()) continue;
    for (const auto title : known.title_columns) {
      if (out.title.empty() && column_name(table.columns[i]) == spaced(title)) out.title = row[i];
    }
    out.fields.emplace_back(column_name(table.columns[i]), row[i]);
  }
  return out;
}

Knowledge cause(const model::Rules& rules, const model::CauseInfo& info) {
  Knowledge out{"cause", info.id, info.title, {{"group", info.group}, {"first symptom", info.typical_first_symptom}}};
  for (const auto& s : rules.signatures) {
    if (s.causes.contains(info.id)) out.fields.emplace_back("signature", s.id);
  }
  return out;
}

Knowledge signature(const model::Rules& rules, const model::Signature& s) {
  Knowledge out{"signature", s.id, s.meaning, {}};
  for (const auto& p : s.patterns) out.fields.emplace_back("pattern", p);
  for (const auto& [id, vote] : s.causes) {
    const auto* info = rules.cause(id);
    out.fields.emplace_back("cause", fmt::format("{} ({:.1f}){}", id, vote, info ? ": " + info->title : ""));
  }
  if (s.secondary) out.fields.emplace_back("role", "secondary: says peer, connection or timeout, never a first cause");
  if (!s.severity.empty()) out.fields.emplace_back("severity", s.severity);
  if (!s.owner.empty()) out.fields.emplace_back("owner", spaced(s.owner));
  for (const auto& a : s.actions) out.fields.emplace_back("action", a);
  for (const auto& n : s.needs) out.fields.emplace_back("needs", n);
  if (!s.source_url_or_note.empty()) out.fields.emplace_back("known from", s.source_url_or_note);
  return out;
}

// "Xid 144" to "150" have a decode by unit.
void add_decode(const model::Rules& rules, Knowledge& xid) {
  const auto table = rules.tables.find("xid/nvlink5.csv");
  if (xid.kind != "xid" || table == rules.tables.end()) return;
  std::vector<std::string> units;
  for (const auto& row : table->second.rows) {
    if (row.size() > 7 && row[0] == xid.id) units.push_back(fmt::format("{}: {}", row[1], row[7]));
  }
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  for (const auto& unit : units) xid.fields.emplace_back("decode", unit);
}

}  // namespace

std::vector<Knowledge> explain(const model::Rules& rules, std::string_view word) {
  std::vector<Knowledge> out;
  const std::string name = base::lower(base::trim(word));
  for (const auto& c : rules.causes) {
    if (base::lower(c.id) == name) out.push_back(cause(rules, c));
  }
  for (const auto& s : rules.signatures) {
    if (base::lower(s.id) == name) out.push_back(signature(rules, s));
  }
  const auto [kind, number] = split_number(word);
  for (const auto& known : kFaultTables) {
    const auto table = rules.tables.find(known.path);
    if (number.empty() || table == rules.tables.end() || (!kind.empty() && kind != known.kind)) continue;
    for (const auto& row : table->second.rows) {
      if (row.empty() || row[0] != number) continue;
      out.push_back(fault(known, table->second, row));
      add_decode(rules, out.back());
    }
  }
  return out;
}

std::vector<std::string> suggestions(const model::Rules& rules, std::string_view word) {
  const std::string name = base::lower(base::trim(word));
  std::vector<std::pair<std::size_t, std::string>> ranked;
  const auto consider = [&](const std::string& id, std::string_view title) {
    const std::string candidate = base::lower(id);
    std::size_t distance = base::edit_distance(name, candidate);
    if (candidate.find(name) != std::string::npos) distance = 1;
    else if (name.size() >= 3 && base::contains_ignore_case(title, name)) distance = std::min<std::size_t>(distance, 2);
    if (distance <= std::max<std::size_t>(2, name.size() / 3)) ranked.emplace_back(distance, id);
  };
  for (const auto& c : rules.causes) consider(c.id, c.title);
  for (const auto& s : rules.signatures) consider(s.id, s.meaning);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (std::size_t i = 0; i < ranked.size() && i < 5; ++i) out.push_back(ranked[i].second);
  return out;
}

std::string explain_text(const std::vector<Knowledge>& found, int width) {
  Lines out(false, static_cast<std::size_t>(std::clamp(width, 40, 120)));
  for (const auto& k : found) {
    out.blank();
    out.heading(fmt::format("{} {}: {}", k.kind, k.id, k.title));
    std::string last;
    for (const auto& [name, value] : k.fields) {
      out.add(fmt::format("  {:<22} ", name == last ? "" : fit(name, 22)), value);
      last = name;
    }
  }
  return out.text();
}

std::string explain_json(const std::vector<Knowledge>& found) {
  JsonOut out;
  out.object([&] {
    out.field("schema", "holter.explain/1");
    out.array(
        "found", found,
        [&](const Knowledge& k) {
          out.object([&] {
            out.field("kind", k.kind);
            out.field("id", k.id);
            out.field("title", k.title);
            out.array("fields", k.fields, [&](const auto& f) {
              out.object([&] {
                out.field("name", f.first);
                out.field("value", f.second);
              });
            });
          });
        },
        true);
  });
  return out.take();
}

}  // namespace holter::report
