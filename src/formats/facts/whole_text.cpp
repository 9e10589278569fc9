// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/whole_text.h"

namespace holter::formats::facts {

std::string whole_text(ByteSource& source, FileContext context, model::Evidence& out, std::size_t limit) {
  std::string text;
  bool cut = false;
  for (auto chunk = source.next(); !chunk.empty(); chunk = source.next()) {
    const auto room = limit - text.size();
    cut = cut || chunk.size() > room;
    text += chunk.substr(0, room);
    if (cut) break;
  }
  if (cut || source.truncated()) {
    out.add_problem({context.id, model::PosKind::kOffset, text.size()},
                    cut ? "larger than is read of such a file" : "input ends early");
    if (context.file) context.file->status = model::FileStatus::kPartial;
  }
  return text;
}

}  // namespace holter::formats::facts
