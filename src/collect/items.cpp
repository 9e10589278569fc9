// SPDX-License-Identifier: Apache-2.0
#include "collect/items.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/strings.h"

namespace holter::collect {

namespace {

constexpr std::string_view kTable = "collect.csv";
constexpr std::string_view kRead = "read:";
constexpr std::size_t kMaxKilobytes = 65536;

base::Result<Take> take_of(const std::vector<std::string>& row) {
  const auto deadline = base::to_int<int>(row[2]);
  const auto kilobytes = base::to_int<std::size_t>(row[3]);
  if (!deadline || *deadline < 1 || *deadline > 600)
    return base::fail(base::Code::kInvalid, "the deadline is not 1 to 600 seconds: " + row[2]);
  if (!kilobytes || *kilobytes < 1 || *kilobytes > kMaxKilobytes)
    return base::fail(base::Code::kInvalid, fmt::format("the size is not 1 to {} KB: {}", kMaxKilobytes, row[3]));
  Take take{.file = row[1], .deadline = std::chrono::seconds(*deadline), .max_bytes = *kilobytes * 1024};
  const bool read = row[4].starts_with(kRead);
  for (const auto word : base::split_blanks(read ? std::string_view(row[4]).substr(kRead.size()) : row[4]))
    (read ? take.files : take.command).emplace_back(word);
  if (take.command.empty() && take.files.empty()) return base::fail(base::Code::kInvalid, "nothing to take");
  return take;
}

}  // namespace

std::string Take::text() const {
  return command.empty() ? fmt::format("read {}", fmt::join(files, " ")) : fmt::format("{}", fmt::join(command, " "));
}

base::Result<std::vector<Item>> host_items(const model::Rules& rules) {
  const auto table = rules.tables.find(kTable);
  if (table == rules.tables.end()) return base::fail(base::Code::kNotFound, "there is no rules/collect.csv");
  std::vector<Item> items;
  for (const auto& row : table->second.rows) {
    if (row.size() != 5)
      return base::fail(base::Code::kInvalid, fmt::format("collect.csv: '{}' has not 5 columns", fmt::join(row, ",")));
    auto take = take_of(row);
    if (!take) return take.error().within(fmt::format("collect.csv: {}", row[0]));
    if (items.empty() || items.back().name != row[0]) items.push_back({row[0], {}});
    items.back().takes.push_back(std::move(*take));
  }
  return items;
}

}  // namespace holter::collect
