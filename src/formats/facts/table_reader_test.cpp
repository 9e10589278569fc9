// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/table_reader.h"

#include <gmock/gmock.h>

namespace holter::formats::facts {
namespace {

struct Read {
  model::Evidence ev;
  int confidence = 0;
};

Read read(std::string_view text, std::string path = "x.txt") {
  Read r;
  r.ev.files.push_back({.path = std::move(path), .format = "", .version = ""});
  const TableReader reader;
  r.confidence = reader.probe(r.ev.files[0], text);
  if (r.confidence > 0) {
    MemorySource source(text, 7);
    reader.read(source, {model::FileId{0}, &r.ev.files[0]}, r.ev);
  }
  return r;
}

std::string cell(const Read& r, std::size_t row, std::size_t column) {
  return std::string(r.ev.text(r.ev.tables.at(0).rows.at(row).at(column)));
}

TEST(TableReader, Csv) {
  const auto r = read("rank,step,step_s\n0,1,16.7\n1,1,16.8\n", "a.csv");
  ASSERT_EQ(r.ev.tables.size(), 1u);
  EXPECT_EQ(r.ev.tables[0].rows.size(), 2u);
  EXPECT_EQ(cell(r, 1, 2), "16.8");
  EXPECT_EQ(r.ev.tables[0].lines[1], 3u);
}

TEST(TableReader, NanAndInfAreColumnNames) {
  const auto r = read("layer,absmax,inf,nan\n0,1.5,0,0\n1,inf,3,nan\n");
  ASSERT_EQ(r.ev.tables.size(), 1u);
  EXPECT_EQ(cell(r, 1, 3), "nan");
}

TEST(TableReader, NvidiaSmiQueryAndDmon) {
  const auto r = read("name, pcie.link.gen.current, power.draw [W]\n\"NVIDIA A100, 80GB\", 4, 71.2 W\n");
  ASSERT_EQ(r.ev.tables.size(), 1u);
  EXPECT_EQ(cell(r, 0, 0), "NVIDIA A100, 80GB");
  const auto d = read("# gpu   pwr gtemp\n# Idx     W     C\n    0    71    36\n    1    70    35\n");
  ASSERT_EQ(d.ev.tables.size(), 1u);
  EXPECT_EQ(d.ev.tables[0].rows.size(), 2u);
}

TEST(TableReader, OtherTextIsNoTable) {
  EXPECT_EQ(read("10.1.2.3 ab01\n10.1.2.4 ab02\n").confidence, 0);
  EXPECT_EQ(read("hello, world\nthis is text, and more\n").confidence, 0);
  EXPECT_EQ(read("gn1:2:3 [0] NCCL INFO a, b\ngn1:2:3 [0] NCCL INFO c, d\n").confidence, 0);
  EXPECT_EQ(read("nodes_only\nx\n").confidence, 0);
}

TEST(TableReader, DamagedRowsAreProblems) {
  const auto r = read("a,b\n1,2\n\n3,4,5\n6,7\n", "x.csv");
  ASSERT_EQ(r.ev.tables.size(), 1u);
  EXPECT_EQ(r.ev.tables[0].rows.size(), 2u);
  EXPECT_EQ(r.ev.problems.size(), 1u);
}

TEST(TableReader, SeveralTables) {
  const auto r = read("a,b\n1,2\n\nc,d,e\n3,4,5\n", "x.csv");
  ASSERT_EQ(r.ev.tables.size(), 2u);
  EXPECT_EQ(r.ev.text(r.ev.tables[1].columns[2]), "e");
}

}  // namespace
}  // namespace holter::formats::facts
