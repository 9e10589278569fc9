// SPDX-License-Identifier: Apache-2.0
// What is private by its shape: addresses, identifiers, secrets, paths. Thread-safe.
#pragma once

#include <vector>

#include <re2/re2.h>

namespace holter::report::share {

struct Pattern {
  const char* kind;
  const RE2* pattern;  // group 1 is replaced
};

// In the order of use: what holds names (URLs, logins) before the names themselves are looked for,
const std::vector<Pattern>& patterns_around_names();
// and what may stand beside them.
const std::vector<Pattern>& patterns_after_names();
// Secrets alone, by the name of their key or by their shape. Group 1.
const std::vector<const RE2*>& secret_patterns();
// Paths, absolute or relative with an extension; Windows and UNC paths are among the first ones above.
const RE2& path_pattern();

}  // namespace holter::report::share
