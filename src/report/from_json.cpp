// SPDX-License-Identifier: Apache-2.0
#include "report/from_json.h"

#include "base/json_document.h"

namespace holter::report {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::string_view kSchema = "\"holter.report/1\"";

using Value = base::JsonValue;

const Value* member(const Value& object, const char* key) {
  if (!object.IsObject()) return nullptr;
  const auto found = object.FindMember(key);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

std::string text(const Value& object, const char* key) {
  const auto* value = member(object, key);
  return value && value->IsString() ? std::string(value->GetString(), value->GetStringLength()) : "";
}

std::vector<std::string> texts(const Value& object, const char* key) {
  std::vector<std::string> out;
  const auto* list = member(object, key);
  if (!list || !list->IsArray()) return out;
  for (const auto& v : list->GetArray()) {
    if (v.IsString()) out.emplace_back(v.GetString(), v.GetStringLength());
  }
  return out;
}

template <typename Enum>
Enum word(const std::string& said, std::initializer_list<Enum> all, Enum otherwise) {
  for (const auto e : all) {
    if (said == model::to_string(e)) return e;
  }
  return otherwise;
}

model::Finding finding(const Value& v) {
  model::Finding f;
  f.cause = text(v, "cause");
  f.title = text(v, "title");
  f.severity = model::parse_severity(text(v, "severity")).value_or(model::Severity::kReplace);
  f.needs = texts(v, "needs");
  if (const auto* actions = member(v, "actions"); actions && actions->IsArray()) {
    using model::Risk;
    for (const auto& a : actions->GetArray())
      f.actions.push_back(
          {text(a, "text"), text(a, "command"),
           word(text(a, "risk"), {Risk::kNone, Risk::kLow, Risk::kDisruptive, Risk::kDestructive}, Risk::kDisruptive)});
  }
  return f;
}

model::VerdictKind kind_of(const std::string& said) {
  using K = model::VerdictKind;
  return word(said,
              {K::kHang, K::kSlow, K::kCrash, K::kInit, K::kConfig, K::kExternal, K::kNodeFault, K::kNumeric,
               K::kMemory, K::kAccuracy, K::kLatency, K::kNone},
              K::kUndetermined);
}

}  // namespace

bool is_report_json(std::string_view head) {
  return head.starts_with("{") && head.substr(0, 200).find(kSchema) != std::string_view::npos;
}

base::Result<model::Report> from_json(const std::string& json) {
  if (json.size() > kMaxBytes) return base::fail(base::Code::kLimit, "the report is larger than 64 MiB");
  base::JsonDocument d;
  d.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
  if (d.HasParseError() || !d.IsObject()) return base::fail(base::Code::kInvalid, "this is no JSON, or it ends early");
  if (text(d, "schema") != "holter.report/1")
    return base::fail(base::Code::kInvalid, "its schema is not holter.report/1 (holter diagnose -o json)");
  model::Report r;
  if (const auto* v = member(d, "verdict")) {
    using C = model::Certainty;
    r.verdict = {kind_of(text(*v, "kind")),
                 word(text(*v, "certainty"), {C::kConfirmed, C::kLikely, C::kNoFault}, C::kInconclusive),
                 text(*v, "summary")};
  }
  if (const auto* v = member(d, "decision")) {
    using R = model::Restart;
    r.decision.restart = word(text(*v, "restart"), {R::kNow, R::kAfterEvidence, R::kNo}, R::kUnknown);
    r.decision.exclude_nodes = texts(*v, "exclude_nodes");
    r.decision.resume_from = text(*v, "resume_from");
    r.decision.why = text(*v, "why");
  }
  using O = model::Owner;
  r.owner = word(text(d, "owner"), {O::kUserCode, O::kFramework, O::kPlatform, O::kNetwork, O::kStorage, O::kVendor},
                 O::kUnknown);
  if (const auto* list = member(d, "findings"); list && list->IsArray()) {
    for (const auto& v : list->GetArray()) r.findings.push_back(finding(v));
  }
  return r;
}

}  // namespace holter::report
