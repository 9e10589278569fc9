// SPDX-License-Identifier: Apache-2.0
// Where a piece of evidence stands, and what became of each input.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/ids.h"

namespace holter::model {

enum class PosKind : std::uint8_t { kNone, kLine, kRecord, kOffset };

// A place in an input: line numbers start at 1, records and offsets at 0.
struct SourceRef {
  FileId file = FileId::kNone;
  PosKind kind = PosKind::kNone;
  std::uint64_t pos = 0;
};

enum class FileStatus : std::uint8_t {
  kRead,      // a reader understood it
  kPartial,   // understood in part: truncated or damaged
  kSearched,  // unknown format: searched as text for signatures and facts
  kUnread,    // not read (binary of an unknown kind, a device, a limit)
};

struct SourceFile {
  std::string path;     // as shown: relative to the given folder; archive!member for members
  std::string format;   // name of the reader; empty when unread
  std::string version;  // of the format, when it says so
  FileStatus status = FileStatus::kUnread;
  std::string note;                             // why it is unread or partial, for people
  bool passed_over = false;                     // unread because it cannot be evidence: a document, an empty file
  std::uint64_t bytes = 0;                      // after decompression
  std::int64_t modified_ns = 0;                 // file time; 0 unknown
  std::map<std::string, std::uint64_t> counts;  // what was found: "entries", "lines", "events"
  std::uint64_t lines = 0;                      // of text
  // Hints from name and folder, never trusted over content.
  GlobalRank name_rank = GlobalRank::kNone;
  StrId name_node = StrId::kEmpty;
  std::int32_t name_attempt = -1;
};

// Something in an input that could not be read.
struct Problem {
  SourceRef at;
  std::string what;
  std::uint64_t times = 1;  // problems of one kind in one file are counted, not repeated
};

}  // namespace holter::model
