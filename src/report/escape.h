// SPDX-License-Identifier: Apache-2.0
// Text from outside, made safe for the place where it is printed. Nothing leaves report/ without one
// of these.
#pragma once

#include <string>
#include <string_view>

namespace holter::report {

// Valid UTF-8: each invalid byte becomes U+FFFD; control characters stay (JSON escapes them).
std::string valid_utf8(std::string_view text);
// One printable line: no control, escape or reordering characters, blanks for tabs and line ends.
std::string one_line(std::string_view text);
// One printable line as HTML text or a quoted attribute value.
std::string html(std::string_view text);
// JSON text for a <script> element: cannot end the element, open a comment or break a line.
std::string script_json(std::string_view json);
// One printable line as Markdown prose: no markup, no link, no mention.
std::string markdown(std::string_view text);
// One printable line as a Markdown code span, whatever backticks it holds.
std::string markdown_code(std::string_view text);

}  // namespace holter::report
