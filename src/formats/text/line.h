// SPDX-License-Identifier: Apache-2.0
// One line of any text log, unwrapped, and the parsers that look at it.
//
// Logs come in wrappings: "[rank3]:", "3: " of srun -l, Kubernetes and JSON lines, timestamps in many
// forms, ANSI colours. The text reader removes them once; every parser sees the same Line. Several
// formats may alternate in one file (a launcher log holds NCCL lines, tracebacks and stacks).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "formats/reader.h"
#include "model/evidence.h"
#include "model/rules.h"

namespace holter::formats::text {

struct Line {
  std::string_view raw;   // as it stands, without line end, at most 64 KiB
  std::string_view body;  // without wrapping and ANSI codes; leading blanks kept
  // The body with what it quotes, which is blank in `body` when a known error text is only quoted; to show.
  std::string_view shown() const { return quoting.empty() ? body : quoting; }
  std::string_view quoting;
  std::uint64_t number = 0;
  model::Timestamp time;                              // of the wrapping, or of the message head
  model::GlobalRank rank = model::GlobalRank::kNone;  // of the wrapping
  model::StrId node = model::StrId::kEmpty;           // of the wrapping
  std::int32_t pid = -1;
  std::int32_t repeats = 1;  // "[repeated 6x across cluster]"
  // The line has no time of its own; `time` is that of a line near it in the file (a traceback below
  // a dated line), so it is good to order events of other files only when they are far apart.
  bool time_inherited = false;
};

// A parser of one kind of line, or of blocks of lines. State (an open traceback or stack) belongs to
// the parser object; one object serves one file. Blocks of different ranks may interleave: keep
// state by Line::rank.
class LineParser {
 public:
  virtual ~LineParser() = default;
  // Literals of which one stands in every line that starts something for this parser. The text
  // reader calls on_line() for lines that hold one of them (letters in any case), and for every line
  // while wants_all(). Choose rare ones of at least 5 bytes: each shorter one costs a search of its own.
  virtual std::vector<std::string_view> triggers() const = 0;
  virtual bool wants_all() const { return false; }
  virtual void on_line(const Line& line, FileContext context, model::Evidence& out) = 0;
  virtual void on_end(FileContext, model::Evidence&) {}
  // What a file is called in which this parser recognised most: "nccl-log", "kernel-log", "stacks".
  virtual std::string_view format() const { return "text"; }
};

// Fresh parsers for one file. Every call gives the same kinds with the same triggers.
using ParserFactory = std::function<std::vector<std::unique_ptr<LineParser>>()>;

// Helpers for parsers.
model::SourceRef at(const Line& line, FileContext context);
// An Event with place, time, rank, node, pid and bounded text filled in.
model::Event event(std::string_view kind, const Line& line, FileContext context, model::Evidence& out);

}  // namespace holter::formats::text
