// SPDX-License-Identifier: Apache-2.0
// One document, written as JSON or as a protocol-2 pickle with memoised strings, as PyTorch writes both.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holter::generate {

class Writer {
 public:
  explicit Writer(bool json) : json_(json) {
    if (!json_) out_ = "\x80\x02";
  }

  void begin_dict() { begin(json_ ? "{" : "}("); }
  void end_dict() { end(json_ ? "}" : "u"); }
  void begin_list() { begin(json_ ? "[" : "]("); }
  void end_list() { end(json_ ? "]" : "e"); }
  void begin_pair() { begin(json_ ? "[" : ""); }
  void end_pair() { end(json_ ? "]" : "\x86"); }

  void key(std::string_view name) {
    string(name);
    if (json_) out_ += ':', first_.back() = true;
  }
  void string(std::string_view text) {
    comma();
    if (json_) {
      (out_ += '"').append(text) += '"';  // names here need no escapes
      return;
    }
    const auto [it, is_new] = memo_.try_emplace(std::string(text), static_cast<std::uint32_t>(memo_.size()));
    if (is_new) {
      out_ += 'X';
      little(static_cast<std::uint32_t>(text.size()), 4);
      out_ += text;
    }
    const char op = is_new ? (it->second < 256 ? 'q' : 'r') : (it->second < 256 ? 'h' : 'j');
    out_ += op;
    little(it->second, it->second < 256 ? 1 : 4);
  }
  void number(std::int64_t i) {
    comma();
    if (json_) {
      out_ += std::to_string(i);
    } else if (i >= 0 && i < 256) {
      out_ += 'K', little(static_cast<std::uint64_t>(i), 1);
    } else if (i >= 0 && i < 65536) {
      out_ += 'M', little(static_cast<std::uint64_t>(i), 2);
    } else if (i >= INT32_MIN && i <= INT32_MAX) {
      out_ += 'J', little(static_cast<std::uint64_t>(i), 4);
    } else {
      out_ += "\x8a\x08", little(static_cast<std::uint64_t>(i), 8);
    }
  }
  void real(double d) {
    comma();
    if (json_) {
      out_ += std::to_string(d);
      return;
    }
    std::uint64_t bits;
    std::memcpy(&bits, &d, 8);
    out_ += 'G';
    for (int shift = 56; shift >= 0; shift -= 8) out_ += static_cast<char>(bits >> shift);
  }
  void boolean(bool b) { literal(b ? "true" : "false", b ? '\x88' : '\x89'); }
  // None in a pickle, 0 in JSON.
  void none() { literal("0", 'N'); }
  std::string done() { return json_ ? out_ : out_ + '.'; }

 private:
  void begin(std::string_view text) {
    comma();
    out_ += text;
    first_.push_back(true);
  }
  void end(std::string_view text) {
    out_ += text;
    first_.pop_back();
  }
  void literal(const char* json, char op) {
    comma();
    if (json_) out_ += json;
    else out_ += op;
  }
  void comma() {
    if (!json_ || first_.empty()) return;
    if (!first_.back()) out_ += ',';
    first_.back() = false;
  }
  void little(std::uint64_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(v >> (8 * i));
  }

  bool json_;
  std::string out_;
  std::vector<bool> first_;
  std::unordered_map<std::string, std::uint32_t> memo_;
};

}  // namespace holter::generate
