// SPDX-License-Identifier: Apache-2.0
#include "formats/kernel/xid_table.h"

#include "base/strings.h"

namespace holter::formats::kernel {

namespace {

using Row = std::vector<std::string>;

// Cells by column name; a column may carry a remark in parentheses: "unit_v1(<R575)".
class TableView {
 public:
  TableView(const model::Rules& rules, std::string_view name) {
    const auto it = rules.tables.find(name);
    if (it != rules.tables.end()) table_ = &it->second;
  }
  const std::vector<Row>& rows() const {
    static const std::vector<Row> none;
    return table_ ? table_->rows : none;
  }
  std::string cell(const Row& row, std::string_view column) const {
    for (std::size_t i = 0; table_ && i < table_->columns.size() && i < row.size(); ++i) {
      const auto& name = table_->columns[i];
      if (std::string_view(name).substr(0, name.find('(')) == column) return row[i];
    }
    return {};
  }

 private:
  const model::RuleTable* table_ = nullptr;
};

const Row* row_of(const TableView& table, int number) {
  const auto text = std::to_string(number);
  for (const auto& row : table.rows()) {
    if (!row.empty() && row[0] == text) return &row;
  }
  return nullptr;
}

// "------000000----------0000100001": bit 31 first, '-' is any.
bool bits_match(std::string_view pattern, std::uint32_t value) {
  if (pattern.size() < 31 || pattern.size() > 32) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const auto bit = (value >> (pattern.size() - 1 - i)) & 1U;
    if (pattern[i] != '-' && static_cast<std::uint32_t>(pattern[i] - '0') != bit) return false;
  }
  return true;
}

// "" any; "0x00000001"; "0x00000000/0xFFFFFFFF" either
bool status_matches(std::string_view cell, std::uint32_t status) {
  if (cell.empty()) return true;
  for (auto part : base::split(cell, '/')) {
    if (part.starts_with("0x")) part.remove_prefix(2);
    if (base::to_int<std::uint32_t>(part, 16) == status) return true;
  }
  return false;
}

void match_row(const TableView& t, const Row& row, int layout, std::uint32_t intr, std::uint32_t status,
               std::vector<Nvlink5Match>& out) {
  const bool v2 = layout == 2;
  const bool promoted = bits_match(t.cell(row, v2 ? "action2_pattern_v2" : "action2_pattern_v1"), intr);
  if (!promoted && !bits_match(t.cell(row, v2 ? "intrinfo_pattern_v2" : "intrinfo_pattern_v1"), intr)) return;
  if (!status_matches(t.cell(row, "error_status"), status)) return;
  Nvlink5Match m;
  m.layout = layout;
  m.unit = t.cell(row, v2 ? "unit_v2" : "unit_v1");
  m.event_code = static_cast<int>((intr >> 20) & 0x3f);
  m.resolution = promoted ? t.cell(row, "action2") : t.cell(row, "resolution");
  m.investigatory = t.cell(row, "investigatory");
  m.severity = t.cell(row, "severity");
  m.remote_impact = t.cell(row, "remote_impact");
  out.push_back(std::move(m));
}

}  // namespace

std::optional<XidInfo> xid_info(const model::Rules& rules, int number) {
  const TableView t(rules, "xid/xid.csv");
  const auto* row = row_of(t, number);
  if (!row) return std::nullopt;
  return XidInfo{number,
                 t.cell(*row, "mnemonic"),
                 t.cell(*row, "unit"),
                 t.cell(*row, "category"),
                 t.cell(*row, "severity"),
                 t.cell(*row, "meaning"),
                 t.cell(*row, "nvidia_immediate_action"),
                 t.cell(*row, "proposed_action")};
}

std::optional<SxidInfo> sxid_info(const model::Rules& rules, int number) {
  const TableView t(rules, "xid/sxid.csv");
  const auto* row = row_of(t, number);
  if (!row) return std::nullopt;
  auto name = t.cell(*row, "name");
  if (name.empty()) name = t.cell(*row, "driver_enum");
  return SxidInfo{number, std::move(name), t.cell(*row, "block"), t.cell(*row, "fm_guide_class")};
}

std::vector<Nvlink5Match> decode_nvlink5(const model::Rules& rules, int xid, std::uint32_t intr_info,
                                         std::uint32_t error_status, int driver_branch) {
  constexpr int kFirstBranchOfLayout2 = 575;
  std::vector<Nvlink5Match> out;
  const TableView t(rules, "xid/nvlink5.csv");
  const auto number = std::to_string(xid);
  for (const auto& row : t.rows()) {
    if (row.empty() || row[0] != number) continue;
    if (driver_branch < kFirstBranchOfLayout2) match_row(t, row, 1, intr_info, error_status, out);
    if (driver_branch == 0 || driver_branch >= kFirstBranchOfLayout2)
      match_row(t, row, 2, intr_info, error_status, out);
  }
  return out;
}

model::Severity severity_of(std::string_view word) {
  if (word == "info") return model::Severity::kInfo;
  if (word == "degraded") return model::Severity::kDegraded;
  if (word == "gpu_fatal") return model::Severity::kGpuFatal;
  if (word == "node_fatal") return model::Severity::kNodeFatal;
  return model::Severity::kApplication;
}

}  // namespace holter::formats::kernel
