// SPDX-License-Identifier: Apache-2.0
#include "formats/text/line.h"

#include "base/strings.h"

namespace holter::formats::text {

namespace {
constexpr std::size_t kMaxText = 400;
}

model::SourceRef at(const Line& line, FileContext context) { return {context.id, model::PosKind::kLine, line.number}; }

model::Event event(std::string_view kind, const Line& line, FileContext context, model::Evidence& out) {
  model::Event e;
  e.kind = out.intern(kind);
  e.at = at(line, context);
  e.time = line.time;
  e.rank = line.rank;
  e.node = line.node;
  e.pid = line.pid;
  e.repeats = static_cast<std::uint32_t>(line.repeats);
  e.text = out.intern(base::ellipsize(base::trim(line.shown()), kMaxText));
  if (line.time_inherited) e.fields.emplace_back(out.intern("time_from"), out.intern("neighbour line"));
  return e;
}

}  // namespace holter::formats::text
