// SPDX-License-Identifier: Apache-2.0
// Threads of the job as joined from all stack samples: samples of one thread taken by different tools
// are spliced (native frames under Python frames), samples at different times are compared, workers
// find the rank of their parent, helper threads are marked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hang/job.h"
#include "model/evidence.h"
#include "model/rules.h"

namespace re2 {
class RE2;
}

namespace holter::hang {

// Several RE2 patterns as one question. Patterns that do not compile are left out and listed.
class Patterns {
 public:
  explicit Patterns(const std::vector<std::string>& patterns);
  Patterns(Patterns&&) noexcept;
  ~Patterns();
  bool match(std::string_view text) const;
  bool empty() const { return compiled_.empty(); }

 private:
  std::vector<std::unique_ptr<re2::RE2>> compiled_;
};

// What two samples of one thread say.
enum class Motion {
  kOnce,    // one sample, or samples whose order is not known
  kStill,   // all frames and lines equal
  kMoving,  // another place
};

struct ThreadStack {
  std::uint32_t sample = 0;         // index of the latest sample in Evidence::stacks
  std::vector<std::uint32_t> more;  // other samples of this thread: spliced, or earlier
  model::RankSet ranks;             // one rank, or those of a merged group; empty: unknown
  model::ThreadRole role = model::ThreadRole::kUnknown;
  Motion motion = Motion::kOnce;
  std::vector<model::Frame> frames;  // outermost first, interpreter frames removed
  char state = 0;
};

// In the order of ranks, main threads first. The frames of each thread are never empty.
std::vector<ThreadStack> join_threads(const model::Evidence& evidence, const Job& job, const model::StackRules& rules);

// Native frames below Python frames of the same moment: `native` replaces nothing that Python knows;
// its frames inside the last interpreter frame are appended. Both outermost first.
std::vector<model::Frame> splice(const std::vector<model::Frame>& python, const std::vector<model::Frame>& native,
                                 const std::vector<bool>& native_is_interpreter);

}  // namespace holter::hang
