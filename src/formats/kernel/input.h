// SPDX-License-Identifier: Apache-2.0
// One kernel message with its place, and the event it becomes.
#pragma once

#include <string_view>

#include "base/strings.h"
#include "formats/kernel/prefix.h"
#include "formats/text/line.h"

namespace holter::formats::kernel {

struct Input {
  std::string_view text;  // without prefix
  model::StrId node;
  model::Timestamp time;
  const text::Line& line;
  FileContext context;
  model::Evidence& out;

  bool has(std::string_view part) const { return text.find(part) != std::string_view::npos; }
  model::Event event(std::string_view kind) const {
    auto e = text::event(kind, line, context, out);
    e.node = node;
    e.time = time;
    return e;
  }
  void add(model::Event& e, std::string_view key, std::string_view value) const {
    value = base::trim(value);
    if (!value.empty()) e.fields.emplace_back(out.intern(key), out.intern(base::ellipsize(value, 300)));
  }
  void emit(model::Event e) const { out.events.push_back(std::move(e)); }
};

}  // namespace holter::formats::kernel
