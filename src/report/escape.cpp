// SPDX-License-Identifier: Apache-2.0
#include "report/escape.h"

#include <algorithm>

#include "base/strings.h"

namespace holter::report {

namespace {

// Length of the valid UTF-8 sequence at the start (Unicode 15, table 3-7), or 0.
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t n = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : (lead & 0xF0) == 0xE0        ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  if (n == 0 || text.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && at(1) < 0xA0) || (lead == 0xF0 && at(1) < 0x90);
  const bool surrogate = lead == 0xED && at(1) > 0x9F;
  const bool beyond = lead == 0xF4 && at(1) > 0x8F;
  return overlong || surrogate || beyond ? 0 : n;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n = sequence_length(text);
    if (n == 0) out += "\xEF\xBF\xBD";
    else out += text.substr(0, n);
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return out;
}

std::string one_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  std::string flat(text);
  std::replace_if(flat.begin(), flat.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return base::printable(flat);
}

std::string html(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(one_line(text))) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string script_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    // These characters occur inside strings only, where the escape means the same.
    if (json[i] == '<') out += "\\u003c";
    else if (json[i] == '>') out += "\\u003e";
    else if (json[i] == '&') out += "\\u0026";
    else if (json.substr(i, 3) == "\xE2\x80\xA8") out += "\\u2028", i += 2;
    else if (json.substr(i, 3) == "\xE2\x80\xA9") out += "\\u2029", i += 2;
    else out += json[i];
  }
  return out;
}

std::string markdown(std::string_view text) {
  static constexpr std::string_view kMarkup = "\\`*_{}[]()#+-!|~$";
  std::string out;
  for (const char c : one_line(base::trim(text))) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '@') out += "&#64;";  // a mention would notify a stranger
    else if (c == ':') out += "&#58;";  // so that no address becomes a link
    else if (kMarkup.find(c) != std::string_view::npos) out += '\\', out += c;
    else out += c;
  }
  // "www." links without a colon.
  for (std::size_t at = out.find("www."); at != std::string::npos; at = out.find("www.", at + 7))
    out.replace(at, 4, "www&#46;");
  return out;
}

std::string markdown_code(std::string_view text) {
  const std::string line = one_line(base::trim(text));
  std::size_t longest = 0, run = 0;
  for (const char c : line) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const bool pad = line.empty() || line.front() == '`' || line.back() == '`';
  std::string out = fence + (pad ? " " : "") + line + (pad ? " " : "") + fence;
  // A pipe ends a table cell even in a code span.
  for (std::size_t at = out.find('|'); at != std::string::npos; at = out.find('|', at + 2)) out.replace(at, 1, "\\|");
  return out;
}

}  // namespace holter::report
