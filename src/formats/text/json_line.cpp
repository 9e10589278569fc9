// SPDX-License-Identifier: Apache-2.0
#include "formats/text/json_line.h"

#include <array>

#include <rapidjson/memorystream.h>

#include "base/json.h"
#include "base/strings.h"

namespace holter::formats::text {

namespace {

constexpr int kMaxDepth = 16;

template <std::size_t N>
bool is_one_of(std::string_view key, const std::array<std::string_view, N>& names) {
  for (const auto name : names) {
    if (key == name) return true;
  }
  return false;
}

constexpr std::array<std::string_view, 7> kMessage{"message", "msg", "log", "MESSAGE", "textPayload", "event", "body"};
constexpr std::array<std::string_view, 8> kTime{"time",    "timestamp", "@timestamp",           "ts",
                                                "asctime", "datetime",  "__REALTIME_TIMESTAMP", "date"};
constexpr std::array<std::string_view, 6> kHost{"host", "hostname", "node", "_HOSTNAME", "node_name", "nodeName"};
constexpr std::array<std::string_view, 4> kTrace{"exc_info", "exception", "stack_info", "stacktrace"};
constexpr std::array<std::string_view, 3> kLevel{"level", "levelname", "severity"};
constexpr std::array<std::string_view, 2> kRank{"rank", "global_rank"};
constexpr std::array<std::string_view, 3> kPid{"pid", "process", "_PID"};

// Collects the known keys; only the first value of a kind counts.
struct Handler {
  JsonLine out;
  std::string trace;
  std::string key;
  int depth = 0;

  bool value(std::string_view text) {
    if (depth > 2) return true;
    if (is_one_of(key, kHost)) set(out.host, text);
    if (depth > 1) return true;  // only the host may stand deeper ("kubernetes": {"host": ..})
    if (is_one_of(key, kMessage)) {
      if (!out.is_log || out.message.empty()) out.message = text;
      out.is_log = true;
    } else if (is_one_of(key, kTime)) {
      set(out.time, text);
    } else if (is_one_of(key, kTrace)) {
      set(trace, text);
    } else if (is_one_of(key, kLevel)) {
      set(out.level, text);
    } else if (is_one_of(key, kRank)) {
      if (out.rank < 0) out.rank = base::to_int<std::int64_t>(text).value_or(-1);
    } else if (is_one_of(key, kPid)) {
      if (out.pid < 0) out.pid = base::to_int<std::int64_t>(text).value_or(-1);
    }
    return true;
  }
  static void set(std::string& field, std::string_view text) {
    if (field.empty()) field = text;
  }

  bool Null() { return true; }
  bool Bool(bool) { return true; }
  bool Int(int) { return true; }
  bool Uint(unsigned) { return true; }
  bool Int64(std::int64_t) { return true; }
  bool Uint64(std::uint64_t) { return true; }
  bool Double(double) { return true; }
  bool RawNumber(const char* s, rapidjson::SizeType n, bool) { return value({s, n}); }
  bool String(const char* s, rapidjson::SizeType n, bool) { return value({s, n}); }
  bool Key(const char* s, rapidjson::SizeType n, bool) {
    key.assign(s, n);
    return true;
  }
  bool StartObject() { return ++depth <= kMaxDepth; }
  bool EndObject(rapidjson::SizeType) { return --depth >= 0; }
  bool StartArray() { return ++depth <= kMaxDepth; }
  bool EndArray(rapidjson::SizeType) { return --depth >= 0; }
};

}  // namespace

JsonLine parse_json_line(std::string_view text) {
  Handler handler;
  rapidjson::MemoryStream stream(text.data(), text.size());
  base::JsonReader reader;
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  if (!reader.Parse<kFlags>(stream, handler)) return {};
  if (!handler.out.is_log) return {};
  auto& out = handler.out;
  while (out.message.ends_with('\n') || out.message.ends_with('\r')) out.message.pop_back();
  // A structured logger keeps the traceback beside the message; its last line names the exception.
  const std::string_view trace = base::trim(handler.trace);
  if (!trace.empty()) {
    const auto last = trace.rfind('\n');
    out.message += ": ";
    out.message += base::trim(last == std::string_view::npos ? trace : trace.substr(last + 1));
  }
  return std::move(handler.out);
}

}  // namespace holter::formats::text
