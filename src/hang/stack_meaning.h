// SPDX-License-Identifier: Apache-2.0
// What a thread is doing, by the dictionary rules/stacks.toml.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hang/stack_threads.h"
#include "model/rules.h"

namespace holter::hang {

// A dictionary entry with the innermost frame that matched it (index into ThreadStack::frames).
struct StackMatch {
  const model::StackRule* rule = nullptr;
  std::size_t frame = 0;
  explicit operator bool() const { return rule != nullptr; }
};

enum class Doing {
  kCollective,  // waits for other ranks
  kDevice,      // waits for the device
  kReason,      // something the dictionary knows
  kOther,       // not in a collective; the dictionary does not know what
};

struct StackMeaning {
  Doing doing = Doing::kOther;
  StackMatch collective, device, reason, lock, gil_wait;
  std::vector<const model::StackRule*> phases;  // innermost first
  std::size_t caller = SIZE_MAX;                // innermost frame of the user's code; SIZE_MAX: none
  bool user_innermost = false;                  // the innermost frame is the user's own Python
  bool phase(std::string_view name) const;
};

class StackDictionary {
 public:
  explicit StackDictionary(const model::StackRules& rules);
  ~StackDictionary();
  StackMeaning explain(const model::Evidence& evidence, const ThreadStack& thread) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// "function (file:line)".
std::string frame_text(const model::Evidence& evidence, const model::Frame& frame);

}  // namespace holter::hang
