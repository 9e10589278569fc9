// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/ras_json.h"

#include <vector>

#include <fmt/format.h>
#include <rapidjson/error/en.h>

#include "base/json.h"
#include "base/strings.h"
#include "formats/ras/ras_common.h"
#include "formats/text/timestamps.h"

namespace holter::formats::ras {

namespace {

constexpr std::size_t kMaxRanks = std::size_t{4} << 20;
constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxCopy = 240;

// RapidJSON's stream concept over the lines. NCCL 2.28.7 to 2.28.9 write no comma between "nvml_dev"
// and "status" of a missing rank: a string or object that directly follows a value gets its comma here.
class RepairStream {
 public:
  using Ch = char;
  explicit RepairStream(LineSource& in) : in_(in) {}

  char Peek() {
    if (needs_comma()) return ',';
    const int c = in_.peek();
    return c < 0 ? '\0' : static_cast<char>(c);
  }
  char Take() {
    ++offset_;
    if (needs_comma()) {
      last_ = ',';
      return ',';
    }
    const int c = in_.get();
    if (c < 0) return '\0';
    note(static_cast<char>(c));
    add_copy(static_cast<char>(c));
    return static_cast<char>(c);
  }
  std::size_t Tell() const { return offset_; }
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  std::size_t PutEnd(char*) { return 0; }
  std::uint64_t line() const { return in_.line(); }
  // Copies what follows, runs of blanks as one, up to kMaxCopy bytes.
  void start_copy() {
    copy_.clear();
    copying_ = true;
  }
  const std::string& copy() const { return copy_; }

 private:
  bool needs_comma() {
    if (in_string_ || last_ == 0 || last_ == '{' || last_ == '[' || last_ == ',' || last_ == ':') return false;
    const int c = in_.peek();
    return c == '"' || c == '{';
  }
  void add_copy(char c) {
    if (!copying_ || copy_.size() >= kMaxCopy) return;
    const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (!blank || in_string_) copy_ += c;
    else if (!copy_.empty() && copy_.back() != ' ') copy_ += ' ';
  }
  void note(char c) {
    if (in_string_) {
      if (escaped_) escaped_ = false;
      else if (c == '\\') escaped_ = true;
      else if (c == '"') in_string_ = false, last_ = '"';
    } else if (c == '"') {
      in_string_ = true;
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      last_ = c;
    }
  }

  LineSource& in_;
  std::string copy_;
  bool copying_ = false;
  std::size_t offset_ = 0;
  char last_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

enum class Scope { kTop, kComms, kComm, kRanks, kRank, kStatus, kCounts, kRas, kOther };

class Handler {
 public:
  Handler(RepairStream& stream, model::Evidence& out, model::RasReply& reply)
      : stream_(stream), out_(out), reply_(reply) {}
  bool is_reply() const { return is_reply_; }

  bool Null() { return true; }
  bool Bool(bool b) { return set_flag(b); }
  bool Int(int i) { return set_number(i); }
  bool Uint(unsigned i) { return set_number(i); }
  bool Int64(std::int64_t i) { return set_number(i); }
  bool Uint64(std::uint64_t) { return true; }
  bool Double(double) { return true; }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return true; }
  bool String(const char* text, rapidjson::SizeType size, bool) { return set_text({text, size}); }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    key_.assign(text, size);
    return true;
  }
  bool StartObject() { return enter(object_scope()); }
  bool EndObject(rapidjson::SizeType) { return leave(); }
  bool StartArray() { return enter(array_scope()); }
  bool EndArray(rapidjson::SizeType) { return leave(); }

 private:
  Scope scope() const { return scopes_.empty() ? Scope::kOther : scopes_.back(); }
  bool enter(Scope s) {
    if (scopes_.size() >= kMaxDepth) return false;
    scopes_.push_back(s);
    return true;
  }
  bool leave() {
    if (scope() == Scope::kRank) rank().text = out_.intern(base::trim(stream_.copy()));
    scopes_.pop_back();
    return true;
  }

  Scope object_scope() {
    if (scopes_.empty()) return Scope::kTop;
    switch (scope()) {
      case Scope::kTop: return key_ == "ras" ? Scope::kRas : Scope::kOther;
      case Scope::kComms: reply_.comms.emplace_back(); return Scope::kComm;
      case Scope::kRanks: return start_rank();
      case Scope::kRank:
        if (key_ == "status") return Scope::kStatus;
        return key_ == "collective_counts" ? Scope::kCounts : Scope::kOther;
      default: return Scope::kOther;
    }
  }

  Scope start_rank() {
    if (ranks_++ >= kMaxRanks) return Scope::kOther;
    auto& rank = reply_.comms.back().ranks.emplace_back();
    rank.missing = missing_;
    rank.line = stream_.line();
    stream_.start_copy();
    return Scope::kRank;
  }

  Scope array_scope() {
    if (scope() == Scope::kTop && key_ == "communicators") {
      is_reply_ = true;
      return Scope::kComms;
    }
    if (scope() == Scope::kComm && (key_ == "ranks" || key_ == "missing_ranks")) {
      missing_ = key_ == "missing_ranks";
      return Scope::kRanks;
    }
    return Scope::kOther;
  }

  model::RasRank& rank() { return reply_.comms.back().ranks.back(); }

  bool set_flag(bool b) {
    if (scope() != Scope::kStatus) return true;
    if (key_ == "unresponsive") rank().unresponsive = b;
    if (key_ == "considered_dead") rank().dead = b;
    if (key_ == "finalize_called") rank().finalize = b;
    if (key_ == "destroy_flag") rank().destroy = b;
    if (key_ == "abort_flag") rank().abort = b;
    return true;
  }

  bool set_number(std::int64_t i) {
    const auto small = static_cast<std::int32_t>(i);
    switch (scope()) {
      case Scope::kComm:
        if (key_ == "size") reply_.comms.back().size = small;
        if (key_ == "ranks_count") reply_.comms.back().ranks_seen = small;
        break;
      case Scope::kRank:
        if (key_ == "rank") rank().rank = small;
        if (key_ == "pid") rank().pid = small;
        if (key_ == "cuda_dev") rank().cuda_dev = small;
        if (key_ == "nvml_dev") rank().nvml_dev = small;
        break;
      case Scope::kStatus:
        if (key_ == "init_state") rank().init_state = small;
        if (key_ == "async_error") rank().async_error = small;
        // Flags are numbers in some builds.
        if (key_ != "init_state" && key_ != "async_error") set_flag(i != 0);
        break;
      case Scope::kCounts:
        if (const int op = op_index(key_); op >= 0) rank().counts[static_cast<std::size_t>(op)] = i;
        break;
      case Scope::kRas:
        if (key_ == "timeouts_count") reply_.timeouts = small;
        break;
      default: break;
    }
    return true;
  }

  bool set_text(std::string_view value) {
    if (scope() == Scope::kTop && key_ == "nccl_version") reply_.nccl_version = out_.intern(value);
    if (scope() == Scope::kTop && key_ == "timestamp") {
      // "2026-11-30 21:42:12": no zone, taken as UTC.
      if (const auto parsed = text::parse_time(value, 1970)) reply_.time = parsed->time;
    }
    if (scope() == Scope::kComm && key_ == "hash") reply_.comms.back().hash = out_.intern(bare_hash(value));
    if (scope() == Scope::kRank && key_ == "host") rank().host = out_.intern(base::ellipsize(value, 256));
    return true;
  }

  RepairStream& stream_;
  model::Evidence& out_;
  model::RasReply& reply_;
  std::vector<Scope> scopes_;
  std::string key_;
  std::size_t ranks_ = 0;
  bool missing_ = false;
  bool is_reply_ = false;
};

}  // namespace

std::string read_json_reply(LineSource& in, model::Evidence& out, model::RasReply& reply, bool& is_reply) {
  RepairStream stream(in);
  Handler handler(stream, out, reply);
  base::JsonReader reader;
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseStopWhenDoneFlag;
  const auto result = reader.Parse<kFlags>(stream, handler);
  is_reply = handler.is_reply();
  for (auto& comm : reply.comms) {
    for (const auto& rank : comm.ranks) {
      if (rank.missing) comm.errors = out.intern("INCOMPLETE");
    }
  }
  if (!result.IsError()) return {};
  if (in.at_end()) return "the RAS reply ends early";
  return fmt::format("no JSON in a RAS reply: {}", rapidjson::GetParseError_En(result.Code()));
}

}  // namespace holter::formats::ras
