// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/json_reader.h"

#include <array>

#include <fmt/format.h>

#include "base/json.h"
#include "base/strings.h"
#include "formats/facts/json_facts.h"
#include "formats/facts/whole_text.h"

namespace holter::formats::facts {

namespace {

constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseStopWhenDoneFlag |
                            rapidjson::kParseNanAndInfFlag | rapidjson::kParseCommentsFlag |
                            rapidjson::kParseTrailingCommasFlag;

// Text as a RapidJSON stream that knows its line.
class LineStream {
 public:
  using Ch = char;
  explicit LineStream(std::string_view text) : text_(text) {}

  Ch Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  Ch Take() {
    if (at_ >= text_.size()) return '\0';
    if (text_[at_] == '\n') ++line_;
    return text_[at_++];
  }
  std::size_t Tell() const { return at_; }
  Ch* PutBegin() { return nullptr; }
  void Put(Ch) {}
  void Flush() {}
  std::size_t PutEnd(Ch*) { return 0; }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
      Take();
  }
  void skip_line() {
    while (at_ < text_.size() && Take() != '\n') {}
  }
  bool at_end() const { return at_ >= text_.size(); }
  std::uint64_t line() const { return line_; }
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
};

// RapidJSON's events, forwarded with place.
class Handler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
 public:
  Handler(JsonFacts& facts, const LineStream& stream) : facts_(facts), stream_(stream) {}

  bool Null() { return scalar("null"); }
  bool Bool(bool b) { return scalar(b ? "true" : "false"); }
  bool Int(int v) { return scalar(fmt::format("{}", v)); }
  bool Uint(unsigned v) { return scalar(fmt::format("{}", v)); }
  bool Int64(std::int64_t v) { return scalar(fmt::format("{}", v)); }
  bool Uint64(std::uint64_t v) { return scalar(fmt::format("{}", v)); }
  bool Double(double v) { return scalar(fmt::format("{}", v)); }
  bool String(const char* s, rapidjson::SizeType n, bool) { return scalar({s, n}); }
  bool Key(const char* s, rapidjson::SizeType n, bool) {
    const std::size_t end = stream_.Tell();
    key_begin_ = end >= n + 2 ? end - n - 2 : 0;
    facts_.key({s, n});
    return true;
  }
  bool StartObject() { return facts_.start(false, stream_.line()); }
  bool EndObject(rapidjson::SizeType) { return facts_.end(); }
  bool StartArray() { return facts_.start(true, stream_.line()); }
  bool EndArray(rapidjson::SizeType) { return facts_.end(); }

 private:
  bool scalar(std::string_view value) {
    const auto end = stream_.Tell();
    const auto begin = std::min(key_begin_, end);
    return facts_.scalar(value, stream_.line(),
                         base::trim(stream_.text().substr(begin, std::min<std::size_t>(end - begin, 400))));
  }
  JsonFacts& facts_;
  const LineStream& stream_;
  std::size_t key_begin_ = 0;
};

bool is_other_format(std::string_view head) {
  // Own readers or none: traces, telemetry, stacks, Flight Recorder dumps.
  static constexpr std::array<std::string_view, 8> kOthers{
      "\"traceEvents\"", "\"resourceSpans\"", "\"resourceMetrics\"", "\"resourceLogs\"",
      "\"frames\"",      "\"pg_config\"",     "\"entries\"",         "\"pg_status\""};
  for (const auto key : kOthers) {
    if (head.find(key) != std::string_view::npos) return true;
  }
  return false;
}

bool is_log_line(std::string_view first) {
  static constexpr std::array<std::string_view, 9> kKeys{"\"log\"",     "\"msg\"",         "\"message\"",
                                                         "\"MESSAGE\"", "\"textPayload\"", "\"levelname\"",
                                                         "\"level\"",   "\"severity\"",    "\"logger\""};
  for (const auto key : kKeys) {
    if (first.find(key) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

int JsonReader::probe(const model::SourceFile& file, std::string_view head) const {
  const auto start = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (start == std::string_view::npos || (head[start] != '{' && head[start] != '[')) return 0;
  head.remove_prefix(start);
  // "[rank0] text" and "{placeholder}" are no JSON.
  const auto next = head.find_first_not_of(" \t\r\n", 1);
  if (next == std::string_view::npos) return 0;
  const std::string_view allowed = head[0] == '{' ? "\"}/" : "{[\"-0123456789tfn]/";
  if (allowed.find(head[next]) == std::string_view::npos || is_other_format(head)) return 0;
  if (head[0] == '[' && head[next] >= 'a' && head.substr(next, 4) != "true" && head.substr(next, 4) != "null" &&
      head.substr(next, 5) != "false") {
    return 0;
  }
  const auto newline = head.find('\n');
  const auto first = head.substr(0, newline);
  const auto second = newline == std::string_view::npos ? std::string_view() : base::trim(head.substr(newline + 1));
  const bool lines = base::trim(first).ends_with('}') && second.starts_with('{');
  if (is_log_line(first) && (lines || second.empty())) return 0;
  // "[12.5] text" would start like an array of numbers.
  if (head[0] == '[' && head[next] != '{' && head[next] != '[' && first.find("] ") != std::string_view::npos) return 0;
  return file.path.ends_with(".json") || file.path.ends_with(".jsonl") ? 55 : 40;
}

void JsonReader::read(ByteSource& source, FileContext context, model::Evidence& out) const {
  const auto text = whole_text(source, context, out);
  LineStream stream(std::string_view(text).starts_with("\xEF\xBB\xBF") ? std::string_view(text).substr(3)
                                                                       : std::string_view(text));
  JsonFacts facts(out, context);
  std::size_t documents = 0, bad = 0;
  for (stream.skip_blanks(); !stream.at_end() && bad < 100; stream.skip_blanks()) {
    // One memory pool a document: a parse error leaves nothing behind.
    base::JsonReader reader;
    Handler handler(facts, stream);
    facts.document(documents);
    const auto line = stream.line();
    if (reader.Parse<kFlags>(stream, handler).IsError()) {
      ++bad;
      out.add_problem({context.id, model::PosKind::kLine, line}, "JSON that does not parse");
      if (context.file) context.file->status = model::FileStatus::kPartial;
      facts.abandon();
      stream.skip_line();
      continue;
    }
    ++documents;
  }
  facts.finish();
  if (!context.file) return;
  context.file->lines = stream.line();
  context.file->counts["documents"] = documents;
  context.file->counts["facts"] = facts.facts();
}

}  // namespace holter::formats::facts
