// SPDX-License-Identifier: Apache-2.0
// What this machine lets Holter see: the checks of `holter doctor`. Files are looked up below a root
// folder, so that a captured tree serves as a test; nothing is changed and no privilege is used.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace holter::platform {

enum class State { kYes, kLimited, kNo };
const char* to_string(State);

struct Probe {
  std::string name;  // "stacks.ptrace"
  std::string what;  // "read stacks of running processes"
  State state = State::kNo;
  std::string detail;  // what was found
  std::string hint;    // what to do about it; empty when kYes
};

struct Host {
  std::string root = "/";
  std::function<const char*(const char*)> env;
  // Anything that leaves the root: loading a vendor library, a connection. Off in tests.
  bool live = true;
};

std::vector<Probe> probe_host(const Host& host);

}  // namespace holter::platform
