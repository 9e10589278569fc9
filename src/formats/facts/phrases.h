// SPDX-License-Identifier: Apache-2.0
// Phrases in any text that settle a question of configuration, memory, numerics or serving. A line with
// one becomes a fact "line", so that diagnosers can cite it wherever it stood.
#pragma once

#include <string_view>
#include <vector>

namespace holter::formats::facts {

const std::vector<std::string_view>& phrases();
// The phrase that stands in the line (letters in any case), or empty.
std::string_view phrase_in(std::string_view line);

}  // namespace holter::formats::facts
