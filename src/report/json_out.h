// SPDX-License-Identifier: Apache-2.0
// A thin layer over RapidJSON's writer with the habits of the report: valid UTF-8 always, and a field
// that is unknown or empty is left out.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "base/json.h"
#include "report/escape.h"

namespace holter::report {

class JsonOut {
 public:
  JsonOut() : writer_(buffer_) {}

  void key(std::string_view name) { writer_.Key(name.data(), size(name)); }
  void text(std::string_view value) {
    const std::string valid = valid_utf8(value);
    writer_.String(valid.data(), size(valid));
  }
  void number(std::int64_t value) { writer_.Int64(value); }
  void real(double value) { std::isfinite(value) ? writer_.Double(value) : writer_.Null(); }
  void flag(bool value) { writer_.Bool(value); }

  // Key and value; nothing when the text is empty.
  void field(std::string_view name, std::string_view value) {
    if (!value.empty()) key(name), text(value);
  }
  void field(std::string_view name, std::int64_t value) { key(name), number(value); }

  // An object or array whose members `body` writes.
  template <typename Body>
  void object(Body body) {
    writer_.StartObject();
    body();
    writer_.EndObject();
  }
  template <typename Body>
  void object(std::string_view name, Body body) {
    key(name);
    object(body);
  }
  // An array of all items; nothing when there are none, unless `always`.
  template <typename Items, typename Each>
  void array(std::string_view name, const Items& items, Each each, bool always = false) {
    if (items.empty() && !always) return;
    key(name);
    writer_.StartArray();
    for (const auto& item : items) each(item);
    writer_.EndArray();
  }
  // An array whose members `body` writes.
  template <typename Body>
  void list(Body body) {
    writer_.StartArray();
    body();
    writer_.EndArray();
  }
  template <typename Items>
  void texts(std::string_view name, const Items& items) {
    array(name, items, [this](const auto& item) { text(item); });
  }

  // Hands on what has been written so far once it is at least `limit` bytes, so that a document of any
  // size passes through a small buffer.
  template <typename Sink>
  void drain(const Sink& sink, std::size_t limit = 0) {
    if (buffer_.GetSize() == 0 || buffer_.GetSize() < limit) return;
    sink(std::string_view(buffer_.GetString(), buffer_.GetSize()));
    buffer_.Clear();
  }
  std::string take() const { return std::string(buffer_.GetString(), buffer_.GetSize()); }

 private:
  static rapidjson::SizeType size(std::string_view text) { return static_cast<rapidjson::SizeType>(text.size()); }

  base::JsonBuffer buffer_;
  base::JsonWriterOf<rapidjson::Writer> writer_;
};

}  // namespace holter::report
