// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace holter::report {

std::string to_json(const model::Report& report) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> w(buffer);
  w.StartObject();
  w.Key("schema"), w.String("holter.report/1");
  w.Key("verdict"), w.StartObject();
  w.Key("kind"), w.String(model::to_string(report.verdict.kind));
  w.Key("certainty"), w.String(model::to_string(report.verdict.certainty));
  w.Key("summary"), w.String(report.verdict.summary.c_str());
  w.EndObject();
  w.Key("findings"), w.StartArray();
  for (const auto& f : report.findings) {
    w.StartObject();
    w.Key("id"), w.String(f.id.c_str());
    w.Key("cause"), w.String(f.cause.c_str());
    w.Key("title"), w.String(f.title.c_str());
    w.Key("culprits"), w.StartArray();
    for (const auto& c : f.culprits) {
      w.StartObject();
      w.Key("kind"), w.String(model::to_string(c.kind));
      if (c.rank) w.Key("rank"), w.Int(*c.rank);
      if (!c.node.empty()) w.Key("node"), w.String(c.node.c_str());
      if (!c.gpu.empty()) w.Key("gpu"), w.String(c.gpu.c_str());
      if (!c.name.empty()) w.Key("name"), w.String(c.name.c_str());
      w.EndObject();
    }
    w.EndArray();
    w.Key("evidence"), w.StartArray();
    for (const auto& e : f.evidence) {
      w.StartObject();
      w.Key("source"), w.String(e.source.c_str());
      w.Key("line"), w.Uint64(e.at.pos);
      w.Key("text"), w.String(e.text.c_str());
      w.Key("why"), w.String(e.why.c_str());
      w.EndObject();
    }
    w.EndArray();
    w.Key("actions"), w.StartArray();
    for (const auto& a : f.actions) {
      w.StartObject();
      w.Key("text"), w.String(a.text.c_str());
      w.Key("command"), w.String(a.command.c_str());
      w.EndObject();
    }
    w.EndArray();
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
  return buffer.GetString();
}

}  // namespace holter::report
