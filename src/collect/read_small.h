// SPDX-License-Identifier: Apache-2.0
// Small files of the kernel, which do not hang. Anything else is read by a child with a deadline.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace holter::collect {

// At most `limit` bytes of /proc or /sys. errno tells why there are none.
std::optional<std::string> read_small(const std::string& path, std::size_t limit = 65536);
// Names in a folder that are numbers, in order.
std::vector<int> numbers_in(const std::string& folder);

}  // namespace holter::collect
