// SPDX-License-Identifier: Apache-2.0
#include "formats/manifest/manifest_reader.h"

#include <gtest/gtest.h>

#include <random>

namespace holter::formats::manifest {
namespace {

constexpr std::string_view kJob =
    "{\n \"schema\": \"holter.collect/1\",\n \"hosts\": [\n"
    " {\"host\": \"gn1\", \"status\": \"taken\"},\n"
    " {\"host\": \"gn2\", \"status\": \"timeout\", \"detail\": \"no answer\"}, 7 ]}\n";

model::Evidence read(std::string_view text) {
  model::Evidence ev;
  ev.files.push_back({});
  MemorySource source(text);
  ManifestReader().read(source, {model::FileId{0}, &ev.files[0]}, ev);
  return ev;
}

TEST(Manifest, hosts_that_gave_nothing_are_facts) {
  const auto ev = read(kJob);
  ASSERT_EQ(ev.facts.size(), 1U);
  EXPECT_EQ(ev.text(ev.facts[0].key), "collect.host");
  EXPECT_EQ(ev.text(ev.facts[0].subject), "gn2");
  EXPECT_EQ(ev.text(ev.facts[0].value), "timeout");
  EXPECT_EQ(ev.text(ev.facts[0].text), "no answer");
  EXPECT_EQ(ev.files[0].status, model::FileStatus::kRead);
}

TEST(Manifest, processes_have_a_rank_a_node_and_a_start) {
  const auto ev = read(
      "{\n \"schema\": \"holter.collect.host/1\", \"host\": \"gn7\", \"processes\": ["
      "{\"pid\": 4, \"rank\": 3, \"started_ns\": 1700000000000000000}, {\"pid\": 5}, {\"started_ns\": -1}]}");
  ASSERT_EQ(ev.facts.size(), 1U);
  EXPECT_EQ(ev.facts[0].rank, model::GlobalRank{3});
  EXPECT_EQ(ev.text(ev.facts[0].node), "gn7");
  EXPECT_DOUBLE_EQ(ev.facts[0].number, 1.7e9);
}

TEST(Manifest, only_our_own_are_taken) {
  EXPECT_EQ(ManifestReader().probe({}, kJob), 100);
  EXPECT_EQ(ManifestReader().probe({}, "{\n \"schema\": \"holter.report/1\""), 0);
}

// In place of a fuzz target: clang 19 does not compile rapidjson/document.h of Debian 12.
TEST(Manifest, any_change_of_bytes_is_survived) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(kJob);
    for (auto changes = random() % 6; changes > 0; --changes) {
      const auto at = random() % text.size();
      if (random() % 3 == 0) text.erase(at, random() % 20);
      else text.insert(at, 1, static_cast<char>(random()));
      if (text.empty()) text = "{";
    }
    read(text);
  }
}

TEST(Manifest, damage_is_a_problem) {
  for (const auto size : {1U, 40U, 90U}) {
    const auto ev = read(kJob.substr(0, size));
    EXPECT_TRUE(ev.facts.empty());
    EXPECT_EQ(ev.problems.size(), 1U) << size;
  }
  EXPECT_EQ(read(std::string(100'000, '[')).problems.size(), 1U);
}

}  // namespace
}  // namespace holter::formats::manifest
