// SPDX-License-Identifier: Apache-2.0
// How the values of a report read in words: the same in every renderer, in plain unescaped text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/report.h"

namespace holter::report {

// "rank413.log:12", "trace_3 record 7", "ring.bin offset 4096"; the file alone when no place is known.
std::string place(const model::Citation& citation);
// "rank 413 on gpu17, GPU 3"
std::string culprit_text(const model::Culprit& culprit);
// "rank 3 on gn7, rank 5 on gn8 and 14 more"; equal kinds are folded: "ranks 0-7".
std::string culprits_text(const std::vector<model::Culprit>& culprits);
// "0-412,414-1023 (1,023 ranks)" with at most `limit` ranges, then "and N more".
std::string ranks_text(const model::RankSet& ranks, std::size_t limit = 6);
// "rank 3" or "ranks 0-2,4".
std::string ranks_noun(const model::RankSet& ranks, std::size_t limit = 6);
// Whom an edge names: "rank 3", "each other" where all members are in the call, "an unknown rank".
std::string waited_text(const model::WaitEdge& edge);
// "ranks 0-2 wait for rank 3 in all_reduce #903 of default_pg"
std::string wait_text(const model::WaitEdge& edge);
// "1,024"
std::string count_text(std::uint64_t n);
// "4 files", "1 file"
std::string count_noun(std::uint64_t n, std::string_view one, std::string_view many);
// "2026-03-01T02:51:07Z"; with `fraction`, nanoseconds that are not zero: "...07.250Z".
std::string time_text(std::int64_t unix_ns, bool fraction = false);
// "6:40", "1:02:03", "2 d 3:00:00"
std::string span_text(std::int64_t seconds);
// "after evidence", "node fault": an identifier of the schema for people.
std::string spaced(std::string_view identifier);
// "watchdog kills in 6:40" when the report knows when it was made, else "... at 02:59:01 UTC"; or "".
std::string deadline_text(const model::Report& report);
// "Culprit" of a cause that is found, "Suspect" of a mere lead.
std::string_view culprit_word(const model::Report& report);
// What stands first: "HANG, likely".
std::string verdict_label(const model::Report& report);

}  // namespace holter::report
