// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>

#include "report/report.h"
#include "report/sample_report.h"

namespace holter::report {
namespace {

rapidjson::Document load_schema() {
  std::ifstream file(HOLTER_SOURCE_DIR "/docs/reference/report.schema.json");
  std::stringstream text;
  text << file.rdbuf();
  rapidjson::Document schema;
  schema.Parse(text.str().c_str());
  EXPECT_FALSE(schema.HasParseError()) << "at " << schema.GetErrorOffset();
  return schema;
}

// In tests a field that the schema does not describe is an error.
void forbid_undescribed(rapidjson::Value& node, rapidjson::Document::AllocatorType& allocator) {
  if (node.IsArray()) {
    for (auto& item : node.GetArray()) forbid_undescribed(item, allocator);
  }
  if (!node.IsObject()) return;
  for (auto& member : node.GetObject()) forbid_undescribed(member.value, allocator);
  if (node.HasMember("properties") && node["properties"].IsObject() && !node.HasMember("additionalProperties")) {
    node.AddMember("additionalProperties", false, allocator);
  }
}

std::string why_invalid(const std::string& json) {
  auto schema = load_schema();
  forbid_undescribed(schema, schema.GetAllocator());
  const rapidjson::SchemaDocument compiled(schema);
  rapidjson::SchemaValidator validator(compiled);
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(json.c_str(), json.size());
  if (document.HasParseError()) return "not JSON at " + std::to_string(document.GetErrorOffset());
  if (document.Accept(validator)) return "";
  rapidjson::StringBuffer where;
  validator.GetInvalidDocumentPointer().StringifyUriFragment(where);
  return std::string(validator.GetInvalidSchemaKeyword()) + " at " + where.GetString();
}

TEST(Json, the_schema_describes_every_report) {
  EXPECT_EQ(why_invalid(to_json(testing::hang(8))), "");
  EXPECT_EQ(why_invalid(to_json(testing::hang(64))), "");
  EXPECT_EQ(why_invalid(to_json(model::Report{})), "");
}

TEST(Json, the_schema_rejects_what_is_wrong) {
  EXPECT_NE(why_invalid(R"({"schema":"holter.report/2"})"), "");
  std::string json = to_json(model::Report{});
  json.replace(json.find("undetermined"), 12, "indetermined");
  EXPECT_NE(why_invalid(json), "");
  json = to_json(model::Report{});
  json.insert(1, R"("surprise":1,)");
  EXPECT_NE(why_invalid(json), "");
}

void collect_keys(const rapidjson::Value& node, std::set<std::string>& keys) {
  if (node.IsArray()) {
    for (const auto& item : node.GetArray()) collect_keys(item, keys);
  }
  if (!node.IsObject()) return;
  for (const auto& member : node.GetObject()) {
    keys.insert(member.name.GetString());
    collect_keys(member.value, keys);
  }
}

void each_property(const rapidjson::Value& node,
                   const std::function<void(const std::string&, const rapidjson::Value&)>& visit) {
  if (node.IsArray()) {
    for (const auto& item : node.GetArray()) each_property(item, visit);
  }
  if (!node.IsObject()) return;
  for (const auto& member : node.GetObject()) {
    if (member.name == "properties") {
      for (const auto& property : member.value.GetObject()) visit(property.name.GetString(), property.value);
    }
    each_property(member.value, visit);
  }
}

TEST(Json, every_described_field_is_written_and_every_field_has_a_description) {
  auto report = testing::hang(8);
  report.findings[0].evidence[0].at.kind = model::PosKind::kOffset;
  report.findings[0].culprits[0].peer = "gpu9", report.findings[0].culprits[0].name = "mlx5_0";
  rapidjson::Document document;
  document.Parse(to_json(report).c_str());
  std::set<std::string> written;
  collect_keys(document, written);
  each_property(load_schema(), [&](const std::string& name, const rapidjson::Value& property) {
    EXPECT_TRUE(written.contains(name)) << name;
    EXPECT_TRUE(property.HasMember("description") || property.HasMember("$ref")) << name;
  });
}

TEST(Json, an_unknown_value_is_left_out_and_never_invented) {
  rapidjson::Document document;
  document.Parse(to_json(model::Report{}).c_str());
  EXPECT_FALSE(document.HasMember("created"));
  EXPECT_FALSE(document.HasMember("impact"));
  EXPECT_FALSE(document["job"].HasMember("ranks_expected"));
  EXPECT_STREQ(document["verdict"]["certainty"].GetString(), "inconclusive");
}

TEST(Json, bytes_that_are_no_text_become_text) {
  auto report = testing::poisoned("\xff\xc0\x80\xed\xa0\x80\x1b[31m\"\\");
  report.findings[0].confidence = std::numeric_limits<double>::quiet_NaN();
  report.impact.gpu_hours_lost = std::numeric_limits<double>::infinity();
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(to_json(report).c_str());
  EXPECT_FALSE(document.HasParseError());
}

TEST(Json, large_numbers_survive) {
  auto report = testing::hang(8);
  rapidjson::Document document;
  document.Parse(to_json(report).c_str());
  EXPECT_EQ(document["calls"][0]["start_ns"].GetInt64(), report.calls[0].start_ns);
}

}  // namespace
}  // namespace holter::report
