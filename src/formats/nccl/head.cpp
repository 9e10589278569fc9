// SPDX-License-Identifier: Apache-2.0
#include "formats/nccl/head.h"

#include "base/cursor.h"
#include "base/strings.h"

namespace holter::formats::nccl {

namespace {

struct Marker {
  std::string_view text;
  Level level;
};
constexpr Marker kMarkers[] = {
    {"INFO ", Level::kInfo}, {"WARN ", Level::kWarn}, {"CALL ", Level::kCall}, {"TRACE ", Level::kTrace}};

bool is_digits(std::string_view s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos; }

// "gn7:4519:4519"; a clock time ("08:11:20") has two digits where the host would stand.
bool parse_process(std::string_view token, Head& head) {
  const auto second = token.rfind(':');
  if (second == std::string_view::npos || second == 0) return false;
  const auto first = token.rfind(':', second - 1);
  if (first == std::string_view::npos || first == 0) return false;
  const auto host = token.substr(0, first);
  const auto pid = base::to_int<std::int32_t>(token.substr(first + 1, second - first - 1));
  if (!pid || !is_digits(token.substr(second + 1)) || (host.size() <= 2 && is_digits(host))) return false;
  head.host = host;
  head.pid = *pid;
  return true;
}

bool is_code_place(std::string_view token) {
  const auto colon = token.rfind(':');
  if (colon == std::string_view::npos || !is_digits(token.substr(colon + 1))) return false;
  const auto file = token.substr(0, colon);
  return file.ends_with(".cc") || file.ends_with(".cu") || file.ends_with(".h") || file.ends_with(".c") ||
         file.ends_with(".cpp");
}

void parse_prefix(std::string_view prefix, Head& head) {
  for (const auto token : base::split_blanks(prefix)) {
    if (is_code_place(token)) {
      head.where = token;
    } else if (parse_process(token, head)) {
      head.device = -1;
      head.where = {};
    } else if (token.size() > 2 && token.front() == '[' && token.back() == ']') {
      head.device = base::to_int<std::int32_t>(token.substr(1, token.size() - 2)).value_or(head.device);
    }
  }
}

}  // namespace

std::optional<Head> parse_head(std::string_view body) {
  for (std::size_t at = body.find("NCCL "); at != std::string_view::npos; at = body.find("NCCL ", at + 1)) {
    const auto rest = body.substr(at + 5);
    for (const auto& marker : kMarkers) {
      if (!rest.starts_with(marker.text)) continue;
      Head head;
      head.level = marker.level;
      head.message = base::trim(rest.substr(marker.text.size()));
      parse_prefix(body.substr(0, at), head);
      return head;
    }
    if (rest.starts_with("version ")) {  // NCCL_DEBUG=VERSION prints it without a head
      Head head;
      head.level = Level::kVersion;
      head.message = base::trim(body.substr(at));
      return head;
    }
  }
  return std::nullopt;
}

std::optional<Propagation> parse_propagation(std::string_view message) {
  base::Cursor c(message);
  Propagation out;
  out.where = c.word();
  if (!is_code_place(out.where) || !c.eat(" -> ")) return std::nullopt;
  const auto code = c.number<std::int32_t>();
  if (!code) return std::nullopt;
  out.code = *code;
  return out;
}

}  // namespace holter::formats::nccl
