// SPDX-License-Identifier: Apache-2.0
// Words about an error are not the error: a runbook, a chat, a comment or a grep names the text that it is
// about. What a line only quotes is left out when it is searched.
#pragma once

#include <string>
#include <string_view>

namespace holter::formats::text {

// True when the line could hold a quotation; cheap.
bool may_quote(std::string_view body);

// The line with quoted speech (bob wrote "..."; see `...`) replaced by blanks, and all of a comment line.
// Quotation marks that delimit a value stay: msg="...", {"error": "...", Error("..."), a line that is one string.
std::string without_quotations(std::string_view body);

}  // namespace holter::formats::text
