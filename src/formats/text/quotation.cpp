// SPDX-License-Identifier: Apache-2.0
#include "formats/text/quotation.h"

#include <cctype>

#include "base/strings.h"

namespace holter::formats::text {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_comment(std::string_view body) {
  body = base::trim(body);
  return body.starts_with("# ") || body.starts_with("// ") || body.starts_with("* ");
}

struct Mark {
  std::string_view open, close;
};
constexpr Mark kMarks[] = {{"\"", "\""}, {"`", "`"}, {"\u201c", "\u201d"}};

// What stands before an opening mark tells a quotation in a sentence from the value of a field.
bool in_a_sentence(std::string_view before, std::string_view after) {
  if (base::trim(before).empty()) return !after.empty() && after != "," && after != ";";
  const bool spaced = is_blank(before.back());
  before = base::trim(before);
  if (before.ends_with("File") && after.starts_with(", line ")) return false;  // a frame of a traceback
  const char last = before.back();
  if (last == '(') return before.size() < 2 || !is_word(before[before.size() - 2]);
  if (last == ',' && before.size() > 1 && std::isalpha(static_cast<unsigned char>(before[before.size() - 2])))
    return spaced;
  return spaced && std::string_view("=:,[{\\").find(last) == std::string_view::npos;
}

// The mark that ends what starts at `from`; npos when the line does not end it.
std::size_t closing(std::string_view body, std::size_t from, std::string_view mark) {
  for (auto at = body.find(mark, from); at != std::string_view::npos; at = body.find(mark, at + mark.size())) {
    const auto next = at + mark.size();
    const bool escaped = at > 0 && body[at - 1] == '\\';
    if (!escaped && (next >= body.size() || !is_word(body[next]))) return at;
  }
  return std::string_view::npos;
}

}  // namespace

bool may_quote(std::string_view body) {
  return body.find_first_of("\"`\xe2") != std::string_view::npos || is_comment(body);
}

std::string without_quotations(std::string_view body) {
  if (is_comment(body)) return std::string(body.size(), ' ');
  std::string out(body);
  for (std::size_t at = 0; at < body.size();) {
    const Mark* mark = nullptr;
    for (const auto& m : kMarks) {
      if (body.substr(at).starts_with(m.open)) mark = &m;
    }
    if (!mark || (at > 0 && is_word(body[at - 1]))) {
      ++at;
      continue;
    }
    const auto from = at + mark->open.size();
    const auto end = closing(body, from, mark->close);
    if (end == std::string_view::npos) break;
    const auto next = end + mark->close.size();
    if (in_a_sentence(body.substr(0, at), base::trim(body.substr(next))))
      out.replace(from, end - from, end - from, ' ');
    at = next;
  }
  return out;
}

}  // namespace holter::formats::text
