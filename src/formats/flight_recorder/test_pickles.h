// SPDX-License-Identifier: Apache-2.0
// Pickles for tests, written opcode by opcode.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

namespace holter::formats::flight_recorder::testing {

class PickleWriter {
 public:
  PickleWriter() : out_("\x80\x02") {}

  PickleWriter& raw(std::string_view bytes) {
    out_ += bytes;
    return *this;
  }
  PickleWriter& str(std::string_view text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    out_ += 'X';
    out_.append(reinterpret_cast<const char*>(&size), 4);
    out_ += text;
    return *this;
  }
  PickleWriter& num(std::int64_t i) {
    out_ += "\x8a\x08";
    out_.append(reinterpret_cast<const char*>(&i), 8);
    return *this;
  }
  PickleWriter& key_num(std::string_view key, std::int64_t i) { return str(key).num(i); }
  PickleWriter& key_str(std::string_view key, std::string_view text) { return str(key).str(text); }
  std::string done() const { return out_ + '.'; }
  const std::string& bytes() const { return out_; }

 private:
  std::string out_;
};

// An entry as torch 2.9 writes it, without sizes.
inline void add_entry(PickleWriter& w, std::int64_t seq, std::string_view name, std::string_view group = "0") {
  w.raw("}(").key_num("record_id", seq).key_num("pg_id", 0);
  w.str("process_group").str(group).str("desc").raw("\x86");
  w.key_num("collective_seq_id", seq).key_str("profiling_name", name).key_str("state", "scheduled").raw("u");
}

}  // namespace holter::formats::flight_recorder::testing
