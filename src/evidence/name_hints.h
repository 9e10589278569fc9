// SPDX-License-Identifier: Apache-2.0
// What names say of whose evidence a file is: "rank3.log", "nccl_trace_rank_gn7_12",
// "attempt_0/3/stderr.log", "dmesg-10.44.9.26.log", "gn7/dmesg.txt". Hints only: content wins, and a
// number that may be a date, a pid or a job is no rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holter::evidence {

struct NameHint {
  std::int32_t rank = -1;        // of the job
  std::int32_t local_rank = -1;  // on its node: torchrun's log folders
  std::int32_t attempt = -1;
  bool impossible_rank = false;  // "rank_99999999999": the name gives a number that no job has
  std::string node;
  std::string place;  // folder above torchrun's attempt folder: one for each node
};

// From one path alone; '/' and '!' separate its parts.
NameHint hint_of(std::string_view path);

// From all paths together: numbered names that cover 0..n-1 are ranks, ranks that repeat on every node
// are local ones. One result a path.
std::vector<NameHint> hints_of(const std::vector<std::string>& paths);

// Words of a name that could be a host name, for a look-up among hosts that some content names.
std::vector<std::string_view> host_words(std::string_view path);

}  // namespace holter::evidence
