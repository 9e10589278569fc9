// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/frame_lines.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace holter::formats::stacks {

namespace {

using base::trim;

bool consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Splits "path:12" or "path:12:7" into file and line.
void set_place(std::string_view place, FrameLine& out) {
  out.file = place;
  for (int part = 0; part < 2; ++part) {
    const auto colon = out.file.rfind(':');
    if (colon == std::string_view::npos) return;
    const auto number = base::to_int<std::int32_t>(out.file.substr(colon + 1));
    if (!number) return;
    out.line = *number;
    out.file = out.file.substr(0, colon);
  }
}

bool is_native_file(std::string_view file) {
  static constexpr std::array<std::string_view, 12> kEnds{".so",  ".c",   ".cc", ".cpp", ".cu",  ".h",
                                                          ".hpp", ".cxx", ".S",  ".rs",  ".inl", ".cuh"};
  for (const auto end : kEnds) {
    if (file.ends_with(end)) return true;
  }
  return file.find(".so.") != std::string_view::npos;
}

// The position of the "(" that matches the last ")" of `text`.
std::size_t open_of_last_group(std::string_view text) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// "fn (a=1, b=...) at x.c:3": the argument list is the last group in front of the place, because
// names of C++ functions hold parentheses of their own.
void split_arguments(std::string_view text, FrameLine& out, std::string_view& rest) {
  auto close = std::max(text.rfind(") at ") + 1, text.rfind(") from ") + 1);  // npos + 1 is 0
  if (close == 0 && text.ends_with(')')) close = text.size();
  const auto open = close == 0 ? text.find(" (") + 1 : open_of_last_group(text.substr(0, close));
  if (open == 0 || open == std::string_view::npos || text[open - 1] != ' ') {
    out.function = trim(text);
    return;
  }
  out.function = trim(text.substr(0, open));
  out.arguments = text.substr(open + 1, close == 0 ? std::string_view::npos : close - open - 2);
  if (close != 0) rest = trim(text.substr(close));
}

void set_gdb_rest(std::string_view rest, FrameLine& out) {
  if (consume(rest, "at ")) set_place(trim(rest), out);
  else if (consume(rest, "from ")) out.file = trim(rest);
}

bool consume_address(std::string_view& text) {
  if (!text.starts_with("0x")) return false;
  std::size_t i = 2;
  while (i < text.size() && is_hex(text[i])) ++i;
  if (i == 2) return false;
  text = trim(text.substr(i));
  return true;
}

}  // namespace

std::size_t indent_of(std::string_view body) {
  std::size_t columns = 0;
  for (const char c : body) {
    if (c == ' ') ++columns;
    else if (c == '\t') columns += 8;
    else break;
  }
  return columns;
}

std::optional<FrameLine> pyspy_frame(std::string_view body) {
  FrameLine out;
  auto text = trim(body);
  if (const auto hash = text.rfind(")  # "); hash != std::string_view::npos) {
    out.comment = trim(text.substr(hash + 5));
    text = text.substr(0, hash + 1);
  }
  if (text.empty() || text.back() != ')') return std::nullopt;
  const auto open = open_of_last_group(text);
  if (open == std::string_view::npos || open < 2 || text[open - 1] != ' ') return std::nullopt;
  out.function = trim(text.substr(0, open));
  set_place(text.substr(open + 1, text.size() - open - 2), out);
  if (out.function.empty() || out.file.empty()) return std::nullopt;
  // Prose holds blanks ("done (took: 5)"); a function name of Python does not, one of C++ may.
  const bool native = out.line < 0 || is_native_file(out.file);
  if (!native && out.function.find(' ') != std::string_view::npos) return std::nullopt;
  if (out.file.find_first_of(" =,") != std::string_view::npos && !native) return std::nullopt;
  if (native && out.line < 0 && out.file.find(' ') != std::string_view::npos) return std::nullopt;
  out.kind = native ? model::FrameKind::kNative : model::FrameKind::kPython;
  return out;
}

std::optional<FrameLine> traceback_frame(std::string_view body) {
  auto text = trim(body);
  FrameLine out;
  if (consume(text, "(C) ")) out.kind = model::FrameKind::kNative;
  else consume(text, "(Python) ");
  if (!consume(text, "File \"")) return std::nullopt;
  const auto quote = text.find("\", line ");
  if (quote == std::string_view::npos) return std::nullopt;
  out.file = text.substr(0, quote);
  text.remove_prefix(quote + 8);
  const auto end = text.find_first_not_of("0123456789");
  const auto line = base::to_int<std::int32_t>(text.substr(0, end));
  out.line = line.value_or(-1);  // "?" or a number out of range
  const auto in = text.find("in ");
  if (end == std::string_view::npos || in == std::string_view::npos) return std::nullopt;
  out.function = trim(text.substr(in + 3));
  if (out.function.empty()) return std::nullopt;
  return out;
}

std::optional<FrameLine> native_frame(std::string_view body) {
  auto text = trim(body);
  if (!consume(text, "#")) return std::nullopt;
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = base::to_int<std::int32_t>(text.substr(0, digits));
  if (!number || digits == text.size() || text[digits] != ' ') return std::nullopt;
  FrameLine out;
  out.number = *number;
  out.kind = model::FrameKind::kNative;
  text = trim(text.substr(digits));
  const bool address = consume_address(text);
  std::string_view rest;
  if (!address || consume(text, "in ")) {  // gdb; inlined frames have no address
    if (text.find(" (") == std::string_view::npos && !address) return std::nullopt;
    split_arguments(text, out, rest);
    set_gdb_rest(rest, out);
  } else {  // eu-stack
    const auto module = text.rfind(" - ");
    out.function = trim(text.substr(0, module));
    if (module != std::string_view::npos) out.file = trim(text.substr(module + 3));
    if (out.function.starts_with("- /")) out.file = out.function.substr(2), out.function = {};
  }
  if (out.function.empty()) out.function = "??";
  return out;
}

std::optional<FrameLine> native_place(std::string_view body) {
  if (indent_of(body) < 2) return std::nullopt;
  auto text = trim(body);
  FrameLine out;
  out.kind = model::FrameKind::kNative;
  if (text.starts_with("at ") || text.starts_with("from ")) {
    set_gdb_rest(text, out);
    return out;
  }
  if (text.empty() || text.find(' ') != std::string_view::npos) return std::nullopt;
  set_place(text, out);
  if (out.line < 0) return std::nullopt;
  return out;
}

std::optional<FrameLine> kernel_frame(std::string_view body) {
  auto text = trim(body);
  FrameLine out;
  out.kind = model::FrameKind::kKernel;
  if (consume(text, "[<")) {
    const auto close = text.find(">]");
    if (close == std::string_view::npos || close > 18) return std::nullopt;
    text = trim(text.substr(close + 2));
  }
  consume(text, "? ");
  const auto offset = text.find("+0x");
  if (offset == std::string_view::npos || offset == 0) return std::nullopt;
  const auto name = text.substr(0, offset);
  if (name.find_first_of(" ()=:") != std::string_view::npos) return std::nullopt;
  if (text.find("/0x", offset) == std::string_view::npos) return std::nullopt;
  out.function = name;
  const auto module = text.find(" [");
  if (module != std::string_view::npos && text.back() == ']') {
    out.file = text.substr(module + 2, text.size() - module - 3);
  }
  return out;
}

}  // namespace holter::formats::stacks
