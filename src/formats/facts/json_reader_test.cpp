// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/json_reader.h"

#include <gmock/gmock.h>

namespace holter::formats::facts {
namespace {

struct Read {
  model::Evidence ev;
  int confidence = 0;
  std::string fact(std::string_view key) const {
    for (const auto& f : ev.facts) {
      if (ev.text(f.key) == key) return std::string(ev.text(f.value));
    }
    return "(none)";
  }
};

Read read(std::string_view text) {
  Read r;
  r.ev.files.push_back({.path = "x.json", .format = "", .version = ""});
  const JsonReader reader;
  r.confidence = reader.probe(r.ev.files[0], text);
  if (r.confidence > 0) {
    MemorySource source(text, 5);
    reader.read(source, {model::FileId{0}, &r.ev.files[0]}, r.ev);
  }
  return r;
}

TEST(JsonReader, ConfigBecomesFactsWithPlaceAndText) {
  const auto r = read("{\n \"dtype\": \"float16\",\n \"tp\": {\"size\": 2, \"ranks\": [0, 1]}\n}\n");
  EXPECT_EQ(r.fact("config.dtype"), "float16");
  EXPECT_EQ(r.fact("config.tp.size"), "2");
  EXPECT_EQ(r.fact("config.tp.ranks"), "[0, 1]");
  EXPECT_EQ(r.ev.facts[0].at.pos, 2u);
  EXPECT_EQ(r.ev.text(r.ev.facts[0].text), "\"dtype\": \"float16\"");
}

TEST(JsonReader, LinesAndListsBecomeTables) {
  const auto r = read("{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"loss\":NaN,\"m\":{\"kl\":0.1}}\n");
  ASSERT_EQ(r.ev.tables.size(), 1u);
  EXPECT_TRUE(r.ev.facts.empty());
  EXPECT_EQ(r.ev.tables[0].rows.size(), 2u);
  EXPECT_EQ(r.ev.tables[0].columns.size(), 3u);
  const auto list = read("{\"shards\": [{\"id\": 1, \"ok\": true}, {\"id\": 2, \"ok\": false}]}");
  ASSERT_EQ(list.ev.tables.size(), 1u);
  EXPECT_EQ(list.ev.text(list.ev.tables[0].rows[1][1]), "false");
}

TEST(JsonReader, LogsAndOtherTextAreLeft) {
  EXPECT_EQ(read("{\"log\":\"x\",\"stream\":\"stdout\"}\n{\"log\":\"y\"}\n").confidence, 0);
  EXPECT_EQ(read("[rank0] some text\n").confidence, 0);
  EXPECT_EQ(read("[12.5] usb 1-1\n").confidence, 0);
  EXPECT_EQ(read("{\"traceEvents\": []}").confidence, 0);
  EXPECT_EQ(read("").confidence, 0);
}

TEST(JsonReader, DamageIsAProblem) {
  const auto r = read("{\"a\": 1,\n\"b\": [1, 2");
  EXPECT_EQ(r.ev.problems.size(), 1u);
  EXPECT_EQ(r.fact("config.a"), "1");
  std::string deep(100000, '[');
  EXPECT_FALSE(read(deep).ev.problems.empty());
}

TEST(JsonReader, SecretsAreMasked) {
  const auto r = read("{\"api_key\": \"abc\", \"max_tokens\": 5}");
  EXPECT_EQ(r.fact("config.api_key"), "(masked)");
  EXPECT_EQ(r.fact("config.max_tokens"), "5");
}

}  // namespace
}  // namespace holter::formats::facts
