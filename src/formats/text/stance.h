// SPDX-License-Identifier: Apache-2.0
// Whether a line that holds a known error text says that the error happened. A check that passed, a test name, help,
// a prompt or an expected fault do not; a program that caught an error and went on says that it survived.
#pragma once

#include <string_view>

namespace holter::formats::text {

enum class Stance {
  kSays,     // it happened
  kHandled,  // it happened, and the program went on
  kDenies,   // it is named only: absent, expected, tested, explained, asked for
};

// Of one unwrapped line, by its own words. Thread-safe. Costs about a microsecond: ask after a pattern has matched.
Stance stance_of(std::string_view body);

// A network link that is down in the first 100 seconds of a host, by the kernel's own clock: it comes up with the
// others. Takes the line as it stands.
bool trains_at_boot(std::string_view raw);

}  // namespace holter::formats::text
