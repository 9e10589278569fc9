// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holter::base {

// A name that is safe as one word of a command line: letters, digits, '-', '_' and '.', not beginning with '-' or '.',
// at most 253 bytes.
bool is_safe_host_name(std::string_view name);

}  // namespace holter::base
