// SPDX-License-Identifier: Apache-2.0
#include "base/host_name.h"

#include <algorithm>

namespace holter::base {

bool is_safe_host_name(std::string_view name) {
  if (name.empty() || name.size() > 253 || name.front() == '-' || name.front() == '.') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

}  // namespace holter::base
