// SPDX-License-Identifier: Apache-2.0
// What the parsers of one file share: which line it is, and which communicator a line without a
// pointer belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "formats/nccl/head.h"
#include "formats/text/line.h"

namespace holter::formats::nccl {

// One line with its head and the places it writes to.
struct Input {
  const Head& head;
  const text::Line& line;
  FileContext context;
  model::Evidence& out;

  model::StrId host() const { return head.host.empty() ? line.node : out.intern(head.host); }
  model::SourceRef at() const { return text::at(line, context); }
  // An event with the host and process of the line; text is the message.
  model::Event event(std::string_view kind) const;
  void add_field(model::Event& e, std::string_view key, std::string_view value) const;
};

// Bounds on what one file may fill; beyond them lines are counted as a problem.
constexpr std::size_t kMaxItems = 4'000'000;

class State {
 public:
  // The communicator of a pointer in a process, added when new.
  model::NcclComm& comm(const Input& in, std::string_view pointer);
  // The communicator that a device of a process last named, or nullptr.
  model::NcclComm* current(const Input& in);
  // Adds a fact of the process once.
  void fact(const Input& in, std::string_view key, std::string_view value);
  // False once `size` items of a kind are there.
  bool room(const Input& in, std::size_t size, std::string_view what) const;

 private:
  std::unordered_map<std::string, std::size_t> comms_;    // host:pid:pointer -> Evidence::nccl.comms
  std::unordered_map<std::string, std::size_t> current_;  // host:pid:device
  std::unordered_set<std::string> facts_;
};

}  // namespace holter::formats::nccl
