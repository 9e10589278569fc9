// SPDX-License-Identifier: Apache-2.0
#include "collect/manifest.h"

#include <rapidjson/prettywriter.h>

#include "base/json.h"
#include "base/strings.h"

namespace holter::collect {

namespace {

class Out {
 public:
  Out() { writer_.SetIndent(' ', 1); }
  void field(const char* key, std::string_view value) {
    const auto text = base::printable(value);
    writer_.Key(key);
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  void field(const char* key, std::int64_t value) {
    writer_.Key(key);
    writer_.Int64(value);
  }
  template <typename List, typename Write>
  void array(const char* key, const List& list, Write write) {
    writer_.Key(key);
    writer_.StartArray();
    for (const auto& element : list) {
      writer_.StartObject();
      write(element);
      writer_.EndObject();
    }
    writer_.EndArray();
  }
  template <typename Write>
  std::string document(Write write) {
    writer_.StartObject();
    write();
    writer_.EndObject();
    return std::string(buffer_.GetString(), buffer_.GetSize()) + "\n";
  }

 private:
  base::JsonBuffer buffer_;
  base::JsonWriterOf<rapidjson::PrettyWriter> writer_{buffer_};
};

void write(Out& out, const Record& r) {
  out.field("item", r.item);
  out.field("status", to_string(r.status));
  if (!r.file.empty()) out.field("file", r.file);
  if (!r.detail.empty()) out.field("detail", r.detail);
  if (r.bytes > 0) out.field("bytes", static_cast<std::int64_t>(r.bytes));
  out.field("started_ns", r.started);
  out.field("took_ms", r.took_ms);
}

}  // namespace

const char* to_string(Status status) {
  switch (status) {
    case Status::kTaken: return "taken";
    case Status::kCut: return "cut";
    case Status::kMissing: return "missing";
    case Status::kRefused: return "refused";
    case Status::kTimeout: return "timeout";
    case Status::kFailed: return "failed";
    case Status::kSkipped: return "skipped";
  }
  return "failed";
}

std::string to_json(const HostManifest& m) {
  Out out;
  return out.document([&] {
    out.field("schema", "holter.collect.host/1");
    out.field("host", m.host);
    out.field("version", m.version);
    out.field("started_ns", m.started);
    out.field("ended_ns", m.ended);
    out.array("processes", m.processes, [&](const ProcessRecord& p) {
      out.field("pid", p.pid);
      if (p.rank >= 0) out.field("rank", p.rank);
      out.field("state", std::string_view(&p.state, 1));
      if (p.started > 0) out.field("started_ns", p.started);
      out.field("command", p.command);
    });
    out.array("items", m.records, [&](const Record& r) { write(out, r); });
  });
}

std::string to_json(const JobManifest& m) {
  Out out;
  return out.document([&] {
    out.field("schema", "holter.collect/1");
    out.field("job", m.job);
    out.field("version", m.version);
    out.field("started_ns", m.started);
    out.field("ended_ns", m.ended);
    out.array("hosts", m.hosts, [&](const HostOutcome& h) {
      out.field("host", h.host);
      out.field("status", to_string(h.status));
      if (!h.file.empty()) out.field("file", h.file);
      if (!h.detail.empty()) out.field("detail", h.detail);
      out.field("bytes", static_cast<std::int64_t>(h.bytes));
      out.field("took_ms", h.took_ms);
    });
  });
}

}  // namespace holter::collect
