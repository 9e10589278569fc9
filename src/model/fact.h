// SPDX-License-Identifier: Apache-2.0
// Small facts out of plain text, and simple tables. Keys are listed in docs/reference/facts.md.
#pragma once

#include <string>
#include <vector>

#include "model/event.h"
#include "model/ids.h"
#include "model/source.h"

namespace holter::model {

// "memlock inside srun step on sx04 is 8192 kB": node sx04, key limit.memlock_kb, context "srun step".
struct Fact {
  SourceRef at;
  StrId node = StrId::kEmpty;     // where it holds; empty: unknown or the whole job
  StrId subject = StrId::kEmpty;  // a GPU, port, device or file it is about
  StrId key = StrId::kEmpty;
  StrId value = StrId::kEmpty;
  double number = 0;  // when has_number
  bool has_number = false;
  StrId context = StrId::kEmpty;
  StrId text = StrId::kEmpty;  // the line, verbatim, bounded
  GlobalRank rank = GlobalRank::kNone;
};

struct Table {
  SourceRef at;  // header line
  std::vector<StrId> columns;
  std::vector<std::vector<StrId>> rows;  // as many cells as columns
  std::vector<std::uint64_t> lines;      // line of each row
};

}  // namespace holter::model
