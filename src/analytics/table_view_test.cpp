// SPDX-License-Identifier: Apache-2.0
#include "analytics/table_view.h"

#include <cmath>

#include <gtest/gtest.h>

#include "formats/rules/rules.h"

namespace holter::analytics {
namespace {

TEST(TableView, ByMeaning) {
  model::Evidence ev;
  model::Table t;
  for (const char* name : {"Rank", "power.draw [W]", "note"}) t.columns.push_back(ev.intern(name));
  t.rows.push_back({ev.intern("3"), ev.intern("71.5 W"), ev.intern("nanometre")});
  t.lines.push_back(2);
  const ColumnMeanings meanings(formats::rules::builtin());
  const TableView view(ev, t, meanings);
  EXPECT_EQ(view.column("rank"), 0);
  EXPECT_EQ(view.column("power"), 1);
  EXPECT_EQ(view.column("gc_time"), -1);
  EXPECT_EQ(view.number(0, 1), 71.5);
  EXPECT_FALSE(view.number(0, 2));
  EXPECT_EQ(view.row_text(0), "3,71.5 W,nanometre");
}

TEST(TableView, EveryPatternOfTheRulesCompiles) {
  const auto& table = formats::rules::builtin().tables.at("columns.csv");
  for (const auto& row : table.rows) EXPECT_TRUE(re2::RE2(row[1], re2::RE2::Quiet).ok()) << row[0];
}

TEST(TableView, Times) {
  EXPECT_EQ(time_value("09:03"), 9 * 3600 + 180);
  EXPECT_EQ(time_value("12.5"), 12.5);
  EXPECT_EQ(time_value("1970-01-02T00:00:05Z"), 86405);
  EXPECT_FALSE(time_value("soon"));
}

}  // namespace
}  // namespace holter::analytics
