// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/json.h"

#include <limits>

#include <fmt/format.h>
#include <rapidjson/error/en.h>

#include "formats/byte_cursor.h"

#include "base/json.h"

namespace holter::formats::flight_recorder {

namespace {

// RapidJSON's stream concept over a ByteSource.
class Stream {
 public:
  using Ch = char;
  explicit Stream(ByteCursor& in) : in_(in) {}
  char Peek() {
    const int c = in_.peek();
    return c < 0 ? '\0' : static_cast<char>(c);
  }
  char Take() {
    const int c = in_.get();
    return c < 0 ? '\0' : static_cast<char>(c);
  }
  std::size_t Tell() const { return static_cast<std::size_t>(in_.offset()); }
  // Only for parsing in place, which is not used.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  std::size_t PutEnd(char*) { return 0; }

 private:
  ByteCursor& in_;
};

class Handler {
 public:
  explicit Handler(ValueStack& stack) : stack_(stack) {}
  const char* error() const { return error_; }

  bool Null() { return check(stack_.push({})); }
  bool Bool(bool b) { return check(stack_.push(ValueStack::make_bool(b))); }
  bool Int(int i) { return Int64(i); }
  bool Uint(unsigned i) { return Int64(i); }
  bool Int64(std::int64_t i) { return check(stack_.push(ValueStack::make_int(i))); }
  bool Uint64(std::uint64_t i) {
    if (i > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return Null();
    return Int64(static_cast<std::int64_t>(i));
  }
  bool Double(double d) { return check(stack_.push(ValueStack::make_real(d))); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return false; }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return check(stack_.push(stack_.make_string({text, size})));
  }
  bool Key(const char* text, rapidjson::SizeType size, bool copy) { return String(text, size, copy); }
  bool StartObject() { return check(stack_.push_empty(Kind::kDict)) && check(stack_.mark()); }
  bool EndObject(rapidjson::SizeType) { return check(stack_.set_items()); }
  bool StartArray() { return check(stack_.push_empty(Kind::kList)) && check(stack_.mark()); }
  bool EndArray(rapidjson::SizeType) { return check(stack_.append_items()); }

 private:
  bool check(const char* error) {
    error_ = error;
    return !error;
  }
  ValueStack& stack_;
  const char* error_ = nullptr;
};

void skip_byte_order_mark(ByteCursor& in) {
  std::string_view ignored;
  if (in.peek() == 0xEF) (void)in.take(3, ignored);
}

}  // namespace

ParseEnd run_json(ByteSource& source, ValueStack& stack) {
  ByteCursor in(source);
  skip_byte_order_mark(in);
  Stream stream(in);
  Handler handler(stack);
  base::JsonReader reader;
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseStopWhenDoneFlag | rapidjson::kParseNanAndInfFlag;
  const auto result = reader.Parse<kFlags>(stream, handler);
  if (!result.IsError()) return {.complete = true, .offset = in.offset()};
  ParseEnd end{.offset = result.Offset()};
  if (handler.error()) {
    end.problem = handler.error();
  } else if (in.peek() < 0) {
    end.truncated = true;
    end.problem = "the input ends early";
  } else {
    end.problem = fmt::format("no JSON: {}", rapidjson::GetParseError_En(result.Code()));
  }
  return end;
}

}  // namespace holter::formats::flight_recorder
