// SPDX-License-Identifier: Apache-2.0
// Internal to the HTML renderer. The page is complete without scripts (mail, CI artifact viewers);
// scripts add the timeline, the flame graph, the ring, search and the theme switch.
#pragma once

#include <string>
#include <string_view>

#include "model/report.h"

namespace holter::report {

// The id that the element of a citation or finding has: its own when it is a plain word, so that a
// link stays valid; else made from its position.
std::string anchor(std::string_view id, std::size_t position);

std::string html_answer(const model::Report& report);  // the first screen
std::string html_hypotheses(const model::Report& report);
std::string html_waits(const model::Report& report);
std::string html_stacks(const model::Report& report);  // as nested lists, for pages without scripts
std::string html_evidence(const model::Report& report);
std::string html_inputs(const model::Report& report);  // gaps, problems, files, groups, events

// What the scripts draw, as JSON: calls folded by equal behaviour, the stack tree, rings.
std::string html_data(const model::Report& report);

}  // namespace holter::report
