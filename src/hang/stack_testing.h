// SPDX-License-Identifier: Apache-2.0
// For tests: stacks from short texts.
#pragma once

#include <string_view>

#include "base/strings.h"
#include "model/evidence.h"

namespace holter::hang::testing {

// "main@t.py:1;step@t.py:9", outermost first; a function without "@" is native.
inline std::vector<model::Frame> frames(model::Evidence& ev, std::string_view text) {
  std::vector<model::Frame> out;
  for (const auto part : base::split(text, ';')) {
    model::Frame f;
    const auto at = part.find('@');
    const auto colon = part.rfind(':');
    f.function = ev.intern(part.substr(0, at));
    if (at == std::string_view::npos) {
      f.kind = model::FrameKind::kNative;
    } else {
      f.file = ev.intern(part.substr(at + 1, colon - at - 1));
      f.line = *base::to_int<std::int32_t>(part.substr(colon + 1));
    }
    out.push_back(f);
  }
  return out;
}

inline model::StackSample& add_main(model::Evidence& ev, std::int32_t rank, std::string_view text,
                                    std::int32_t pid = -1) {
  auto& s = ev.stacks.emplace_back();
  if (ev.files.empty()) ev.files.push_back({.path = "stacks.txt", .format = "", .version = ""});
  s.at = {model::FileId{0}, model::PosKind::kLine, ev.stacks.size()};
  s.rank = model::GlobalRank{rank};
  s.pid = pid >= 0 ? pid : 1000 + rank;
  s.tid = s.pid;
  s.role = model::ThreadRole::kMain;
  s.tool = ev.intern("py-spy");
  s.frames = frames(ev, text);
  return s;
}

}  // namespace holter::hang::testing
