// SPDX-License-Identifier: Apache-2.0
// Where collected evidence goes: a folder or an archive.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace holter::collect {

class Sink {
 public:
  virtual ~Sink() = default;
  // One file. `name` is relative, of plain characters, at most 99 bytes (safe_name). Not thread-safe.
  virtual base::Result<bool> add(const std::string& name, std::string_view data, base::UnixNs modified) = 0;
  virtual base::Result<bool> finish() = 0;
};

// A name that is safe in every sink: other characters than [A-Za-z0-9._/-] become '_', no part begins with a dot,
// at most 99 bytes.
std::string safe_name(std::string_view name);

}  // namespace holter::collect
