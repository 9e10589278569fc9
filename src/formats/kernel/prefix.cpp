// SPDX-License-Identifier: Apache-2.0
#include "formats/kernel/prefix.h"

#include <array>
#include <chrono>
#include <cmath>

#include "base/cursor.h"
#include "base/strings.h"

namespace holter::formats::kernel {

namespace {

using base::Cursor;

constexpr std::int64_t kSecond = 1'000'000'000;

int month_of(std::string_view name) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (kMonths[i] == name) return static_cast<int>(i) + 1;
  }
  return 0;
}

std::optional<std::int64_t> unix_ns(int year, int month, int day, std::int64_t ns_of_day) {
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok() || year < 1971 || year > 2200) return std::nullopt;
  return std::int64_t{std::chrono::sys_days{date}.time_since_epoch().count()} * 86'400 * kSecond + ns_of_day;
}

// "07:31:02", "04:41:44,283302"
std::optional<std::int64_t> clock_ns(Cursor& c) {
  std::int64_t total = 0;
  for (const auto scale : {3600, 60, 1}) {
    const auto v = c.number<int>();
    if (!v || *v < 0 || *v > 60) return std::nullopt;
    total += std::int64_t{*v} * scale;
    if (scale > 1 && !c.eat(":")) return std::nullopt;
  }
  total *= kSecond;
  if (c.eat(",") || c.eat(".")) {
    auto unit = kSecond;
    for (auto digits = c.until("Z+- ]:"); !digits.empty() && unit > 1; digits.remove_prefix(1)) {
      if (digits.front() < '0' || digits.front() > '9') return std::nullopt;
      total += (digits.front() - '0') * (unit /= 10);
    }
  }
  return total;
}

// "2025-01-21T04:41:44,283302+00:00"
bool eat_iso(Cursor& c, Prefix& out) {
  Cursor t = c;
  const auto year = t.number<int>();
  if (!year || *year < 1971 || !t.eat("-")) return false;
  const auto month = t.number<int>();
  if (!month || !t.eat("-")) return false;
  const auto day = t.number<int>();
  if (!day || !(t.eat("T") || t.eat(" "))) return false;
  const auto clock = clock_ns(t);
  if (!clock) return false;
  auto ns = unix_ns(*year, *month, *day, *clock);
  if (!ns) return false;
  const bool zoned = !t.empty() && (t.rest().front() == 'Z' || t.rest().front() == '+' || t.rest().front() == '-');
  if (!t.eat("Z") && !t.empty() && (t.rest().front() == '+' || t.rest().front() == '-')) {
    const std::int64_t sign = t.rest().front() == '-' ? 1 : -1;
    const auto zone = t.until(" ]");
    std::int64_t digits = 0;
    for (const char d : zone) {
      if (d >= '0' && d <= '9' && digits < 10000) digits = digits * 10 + (d - '0');
    }
    *ns += sign * ((digits / 100) * 3600 + (digits % 100) * 60) * kSecond;
  }
  out.time = {*ns, model::TimeKind::kUnix};
  out.time.zoned = zoned;
  c = t;
  return true;
}

// "Mon May 18 07:31:02 2026"
bool eat_ctime(Cursor& c, Prefix& out) {
  Cursor t = c;
  if (t.word().size() != 3) return false;
  const int month = month_of(t.word());
  t.blanks();
  const auto day = t.number<int>();
  if (!month || !day) return false;
  t.blanks();
  const auto clock = clock_ns(t);
  if (!clock) return false;
  t.blanks();
  const auto year = t.number<int>();
  if (!year) return false;
  const auto ns = unix_ns(*year, month, *day, *clock);
  if (!ns) return false;
  out.time = {*ns, model::TimeKind::kUnix};
  c = t;
  return true;
}

// "Aug 17 00:00:24": without a year only the time of day is certain.
bool eat_syslog(Cursor& c, Prefix& out) {
  Cursor t = c;
  const int month = month_of(t.word());
  t.blanks();
  const auto day = t.number<int>();
  if (!month || !day) return false;
  t.blanks();
  const auto clock = clock_ns(t);
  if (!clock) return false;
  if (!out.time.comparable()) out.time = {*clock, model::TimeKind::kTimeOfDay};
  c = t;
  return true;
}

// "[ 2217.510034]", "[Mon May 18 07:31:02 2026]", "[2025-01-21T04:41:44Z]:", and a caller "[ T123]"
bool eat_bracket(Cursor& c, Prefix& out) {
  Cursor t = c;
  if (!t.eat("[")) return false;
  t.blanks();
  if (eat_ctime(t, out) || eat_iso(t, out)) {
    t.blanks();
  } else if (Cursor caller = t; caller.eat("T") || caller.eat("C")) {
    if (!caller.number<int>()) return false;
    t = caller;
  } else {
    const auto seconds = base::to_double(base::trim(t.until("]")));
    if (!seconds || *seconds < 0 || *seconds > 4e9) return false;
    out.boot_ns = static_cast<std::int64_t>(std::llround(*seconds * 1e6)) * 1000;
    if (out.time.kind == model::TimeKind::kNone) out.time = {out.boot_ns, model::TimeKind::kMonotonic};
  }
  if (!t.eat("]")) return false;
  t.eat(":");
  c = t;
  return true;
}

// "6,3964,206764307,-;"
bool eat_kmsg(Cursor& c, Prefix& out) {
  Cursor t = c;
  if (!t.number<int>() || !t.eat(",") || !t.number<std::int64_t>() || !t.eat(",")) return false;
  const auto us = t.number<std::int64_t>();
  if (!us || *us < 0 || *us > (std::int64_t{1} << 52) || !t.eat(",") || !t.skip_past(";")) return false;
  out.boot_ns = *us * 1000;
  if (!out.time.comparable()) out.time = {out.boot_ns, model::TimeKind::kMonotonic};
  c = t;
  return true;
}

// "kern  :warn  : ", "gn7: kern: warning: ", "<6>"
bool eat_facility(Cursor& c, Prefix& out) {
  Cursor t = c;
  if (t.eat("<")) {
    if (!t.number<int>() || !t.eat(">")) return false;
    c = t;
    return true;
  }
  auto first = t.until(": \t");
  if (first.empty()) return false;
  if (first != "kern") {
    if (!t.eat(": kern")) return false;
    out.host = first;
  }
  t.blanks();
  if (!t.eat(":")) return false;
  t.blanks();
  if (t.until(": \t").empty()) return false;
  t.blanks();
  if (!t.eat(":")) return false;
  c = t;
  return true;
}

// "gn7 kernel: "
bool eat_host(Cursor& c, Prefix& out) {
  Cursor t = c;
  if (t.eat("kernel:")) {
    c = t;
    return true;
  }
  const auto host = t.until(" \t:[");
  if (host.empty() || !t.eat(" ")) return false;
  t.blanks();
  if (!t.eat("kernel:") && !t.eat("kernel[0]:")) return false;
  out.host = host;
  c = t;
  return true;
}

}  // namespace

Prefix split_prefix(std::string_view text) {
  Prefix out;
  Cursor c(text);
  for (int round = 0; round < 8; ++round) {
    c.blanks();
    if (!eat_bracket(c, out) && !eat_kmsg(c, out) && !eat_iso(c, out) && !eat_facility(c, out) && !eat_host(c, out) &&
        !eat_syslog(c, out)) {
      break;
    }
  }
  out.message = c.rest();
  return out;
}

}  // namespace holter::formats::kernel
