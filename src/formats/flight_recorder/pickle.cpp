// SPDX-License-Identifier: Apache-2.0
// Opcodes as in CPython's Lib/pickletools.py, protocols 2 to 5. PyTorch writes protocol 2 and uses 18 of
// them; the others appear in files that were loaded and pickled again.
#include "formats/flight_recorder/pickle.h"

#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "formats/byte_cursor.h"

namespace holter::formats::flight_recorder {

namespace {

constexpr std::uint64_t kMaxString = std::uint64_t{64} << 20;
constexpr const char* kEndOfInput = "the input ends early";

enum Op : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kAppend = 'a',
  kAppends = 'e',
  kBinFloat = 'G',
  kDict = 'd',
  kEmptyDict = '}',
  kList = 'l',
  kEmptyList = ']',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kSetItems = 'u',
  kTuple = 't',
  kEmptyTuple = ')',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
};

// Names of what is refused because it imports, calls or builds objects.
const char* refused_name(int op) {
  switch (op) {
    case 'c': return "GLOBAL";
    case 'i': return "INST";
    case 'o': return "OBJ";
    case 'R': return "REDUCE";
    case 'b': return "BUILD";
    case 'P': return "PERSID";
    case 'Q': return "BINPERSID";
    case 0x81: return "NEWOBJ";
    case 0x82: return "EXT1";
    case 0x83: return "EXT2";
    case 0x84: return "EXT4";
    case 0x92: return "NEWOBJ_EX";
    case 0x93: return "STACK_GLOBAL";
    case 0x97: return "NEXT_BUFFER";
    case 0x98: return "READONLY_BUFFER";
    default: return nullptr;
  }
}

class PickleMachine {
 public:
  PickleMachine(ByteSource& source, ValueStack& stack) : in_(source), stack_(stack) {}

  ParseEnd run() {
    while (true) {
      const auto at = in_.offset();
      const int op = in_.get();
      if (op == kStop) return {.complete = true, .offset = at};
      const char* error = op < 0 ? kEndOfInput : step(op);
      if (!error) continue;
      ParseEnd end{.truncated = error == kEndOfInput, .offset = at};
      if (const char* name = op < 0 ? nullptr : refused_name(op)) {
        end.problem = fmt::format("the pickle asks to import or call code (opcode {}): refused", name);
      } else {
        end.problem = error;
      }
      return end;
    }
  }

 private:
  const char* step(int op) {
    switch (op) {
      case kBinGet: return with<std::uint8_t>([&](auto i) { return stack_.get_memo(i); });
      case kBinPut: return with<std::uint8_t>([&](auto i) { return stack_.put_memo(i); });
      case kLongBinGet: return with<std::uint32_t>([&](auto i) { return stack_.get_memo(i); });
      case kLongBinPut: return with<std::uint32_t>([&](auto i) { return stack_.put_memo(i); });
      case kMemoize: return stack_.memoize();
      case kBinInt1: return integer<std::uint8_t>();
      case kBinInt2: return integer<std::uint16_t>();
      case kBinInt: return integer<std::int32_t>();
      case kLong1: return with<std::uint8_t>([&](auto n) { return long_integer(n); });
      case kLong4: return with<std::uint32_t>([&](auto n) { return long_integer(n); });
      case kBinFloat: return real();
      case kNone: return stack_.push({});
      case kNewTrue: return stack_.push(ValueStack::make_bool(true));
      case kNewFalse: return stack_.push(ValueStack::make_bool(false));
      case kShortBinString:
      case kShortBinUnicode:
      case kShortBinBytes: return with<std::uint8_t>([&](auto n) { return string(n); });
      case kBinString:
      case kBinBytes:
      case kBinUnicode: return with<std::uint32_t>([&](auto n) { return string(n); });
      case kBinUnicode8:
      case kBinBytes8:
      case kByteArray8: return with<std::uint64_t>([&](auto n) { return string(n); });
      case kProto: return with<std::uint8_t>([](auto) { return static_cast<const char*>(nullptr); });
      case kFrame: return with<std::uint64_t>([](auto) { return static_cast<const char*>(nullptr); });
      default: return container(op);
    }
  }

  const char* container(int op) {
    switch (op) {
      case kMark: return stack_.mark();
      case kEmptyDict: return stack_.push_empty(Kind::kDict);
      case kEmptyList: return stack_.push_empty(Kind::kList);
      case kEmptyTuple: return stack_.push_empty(Kind::kTuple);
      case kSetItems: return stack_.set_items();
      case kAppends: return stack_.append_items();
      case kSetItem: return stack_.set_item();
      case kAppend: return stack_.append_item();
      case kTuple1: return stack_.fold_tuple(1);
      case kTuple2: return stack_.fold_tuple(2);
      case kTuple3: return stack_.fold_tuple(3);
      case kTuple: return stack_.fold_mark(Kind::kTuple);
      case kList: return stack_.fold_mark(Kind::kList);
      case kDict: return stack_.fold_mark(Kind::kDict);
      case kPop: return stack_.pop();
      case kPopMark: return stack_.pop_mark();
      case kDup: return stack_.duplicate();
      default: return "an opcode that no Flight Recorder dump uses";
    }
  }

  template <typename Int, typename Use>
  const char* with(Use use) {
    Int v{};
    return in_.little(v) ? use(v) : kEndOfInput;
  }

  template <typename Int>
  const char* integer() {
    return with<Int>([&](auto v) { return stack_.push(ValueStack::make_int(v)); });
  }

  // Little-endian two's complement. More than 64 bits has no meaning here.
  const char* long_integer(std::uint32_t bytes) {
    std::string_view data;
    if (bytes > 8) {
      if (!in_.skip(bytes)) return kEndOfInput;
      return stack_.push({});
    }
    if (!in_.take(bytes, data)) return kEndOfInput;
    std::uint64_t v = bytes > 0 && (data.back() & 0x80) ? ~std::uint64_t{0} : 0;
    for (std::size_t i = bytes; i-- > 0;) v = (v << 8) | static_cast<unsigned char>(data[i]);
    return stack_.push(ValueStack::make_int(static_cast<std::int64_t>(v)));
  }

  const char* real() {
    std::string_view data;
    if (!in_.take(8, data)) return kEndOfInput;
    std::uint64_t bits = 0;
    for (const char c : data) bits = (bits << 8) | static_cast<unsigned char>(c);
    return stack_.push(ValueStack::make_real(std::bit_cast<double>(bits)));
  }

  const char* string(std::uint64_t size) {
    if (size > kMaxString) {
      if (!in_.skip(size)) return kEndOfInput;
      return "a string is too long";
    }
    std::string_view text;
    if (!in_.take(size, text)) return kEndOfInput;
    return stack_.push(stack_.make_string(text));
  }

  ByteCursor in_;
  ValueStack& stack_;
};

}  // namespace

ParseEnd run_pickle(ByteSource& source, ValueStack& stack) { return PickleMachine(source, stack).run(); }

}  // namespace holter::formats::flight_recorder
