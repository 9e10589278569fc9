// SPDX-License-Identifier: Apache-2.0
#include "report/lines.h"

#include <algorithm>

#include "base/strings.h"
#include "report/escape.h"

namespace holter::report {

namespace {

struct Character {
  std::string_view bytes;
  std::size_t width;
};

bool is_wide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
}
bool is_combining(char32_t c) {
  return (c >= 0x300 && c <= 0x36F) || (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x20D0 && c <= 0x20FF) ||
         (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xFE20 && c <= 0xFE2F);
}

// The character at `at` of valid UTF-8.
Character character_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t n = std::min<std::size_t>(text.size() - at, lead < 0x80   ? 1
                                                                : lead < 0xE0 ? 2
                                                                : lead < 0xF0 ? 3
                                                                              : 4);
  char32_t code = n == 1 ? lead : lead & (0xFFu >> (n + 1));
  for (std::size_t i = 1; i < n; ++i) code = (code << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  return {text.substr(at, n), is_combining(code) ? 0u : is_wide(code) ? 2u : 1u};
}

// Bytes of the longest prefix that is at most `columns` wide.
std::size_t prefix_bytes(std::string_view text, std::size_t columns) {
  std::size_t at = 0, width = 0;
  while (at < text.size()) {
    const Character c = character_at(text, at);
    if (width + c.width > columns) break;
    width += c.width;
    at += c.bytes.size();
  }
  return at;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    width += c.width;
    at += c.bytes.size();
  }
  return width;
}

std::string fit(std::string_view text, std::size_t columns, bool middle) {
  const std::size_t width = display_width(text);
  if (width <= columns) return std::string(text);
  if (columns <= 3) return std::string(columns, '.');
  const std::size_t head = middle ? (columns - 3) / 3 : columns - 3;
  std::string out(text.substr(0, prefix_bytes(text, head)));
  out += "...";
  if (!middle) return out;
  // The end of a path says more than its start.
  std::size_t skip = prefix_bytes(text, width - (columns - 3 - head));
  while (skip < text.size() && display_width(text.substr(skip)) > columns - 3 - head)
    skip += character_at(text, skip).bytes.size();
  return out + std::string(text.substr(skip));
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns, std::size_t max_lines) {
  std::vector<std::string> out;
  while (out.size() + 1 < max_lines && display_width(text) > columns) {
    std::size_t cut = std::max<std::size_t>(1, prefix_bytes(text, columns));
    // Break at the last blank that lets the line fit; a longer word is cut.
    const std::size_t blank = text.rfind(' ', cut);
    if (blank != std::string_view::npos && blank > 0) cut = blank;
    out.emplace_back(base::trim(text.substr(0, cut)));
    text = base::trim(text.substr(cut));
  }
  if (!text.empty() || out.empty()) out.push_back(fit(text, columns));
  return out;
}

void Lines::add(std::string_view lead, std::string_view text, Tone tone, std::size_t max_lines) {
  const std::size_t indent = display_width(lead);
  const std::size_t columns = std::max<std::size_t>(20, width_ > indent ? width_ - indent : 0);
  bool first = true;
  for (const auto& line : wrap(one_line(base::trim(text)), columns, max_lines)) {
    lines_.push_back((first ? std::string(lead) : std::string(indent, ' ')) + toned(line, tone));
    first = false;
  }
}

void Lines::spread(std::string_view left, Tone tone, std::string_view right) {
  const std::string r = fit(one_line(right), width_ / 2);
  const std::string l = fit(one_line(left), width_ - (r.empty() ? 0 : display_width(r) + 2));
  const std::size_t gap = r.empty() ? 0 : width_ - display_width(l) - display_width(r);
  lines_.push_back(toned(l, tone) + std::string(gap, ' ') + r);
}

std::string Lines::text() const {
  std::string out;
  for (const auto& line : lines_) {
    std::size_t end = line.size();
    while (end > 0 && line[end - 1] == ' ') --end;
    out.append(line, 0, end);
    out += '\n';
  }
  return out;
}

std::string Lines::toned(std::string_view text, Tone tone) const {
  if (!colour_ || tone == Tone::kPlain || text.empty()) return std::string(text);
  const char* start = tone == Tone::kBold ? "\x1b[1m" : tone == Tone::kCulprit ? "\x1b[1;31m" : "\x1b[2m";
  return start + std::string(text) + "\x1b[0m";
}

}  // namespace holter::report
