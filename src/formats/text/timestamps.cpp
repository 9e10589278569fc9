// SPDX-License-Identifier: Apache-2.0
#include "formats/text/timestamps.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/strings.h"

namespace holter::formats::text {

namespace {

using model::TimeKind;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDay = 86'400;
constexpr int kUnknownYear = 1970;

// Days since 1970-01-01 of a civil date (the algorithm of Howard Hinnant's "chrono-compatible
// low-level date algorithms").
std::int64_t days_from_civil(std::int64_t y, int m, int d) {
  y -= m <= 2;
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const auto yoe = y - era * 400;
  const auto doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  const auto doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146'097 + doe - 719'468;
}

// Reads fields off the front of a text; every read either succeeds or leaves `ok` false.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  int number(std::size_t min_digits, std::size_t max_digits) {
    std::size_t n = 0;
    int value = 0;
    while (n < max_digits && at_ + n < text_.size() && is_digit(text_[at_ + n])) {
      value = value * 10 + (text_[at_ + n] - '0');
      ++n;
    }
    if (n < min_digits) ok_ = false;
    at_ += n;
    return value;
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void need(char c) { ok_ = take(c) && ok_; }
  // Up to nine digits after '.' or ',' as nanoseconds; 0 when there are none.
  std::int64_t fraction() {
    if (at_ + 1 >= text_.size() || (text_[at_] != '.' && text_[at_] != ',') || !is_digit(text_[at_ + 1])) return 0;
    ++at_;
    std::int64_t value = 0, scale = kSecond;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      if (scale > 1) {
        scale /= 10;
        value += (text_[at_] - '0') * scale;
      }
      ++at_;
    }
    return value;
  }
  int word(const std::string_view* words, int count) {
    for (int i = 0; i < count; ++i) {
      if (text_.substr(at_, words[i].size()) == words[i]) {
        at_ += words[i].size();
        return i;
      }
    }
    return -1;
  }
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  void fail() { ok_ = false; }
  bool ok() const { return ok_; }
  std::size_t at() const { return at_; }
  void seek(std::size_t at) { at_ = at; }
  std::string_view rest() const { return text_.substr(at_); }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

struct TimeOfDay {
  int hour = 0, minute = 0, second = 0;
  std::int64_t nanos = 0;
};

TimeOfDay time_of_day(Cursor& c) {
  TimeOfDay t;
  t.hour = c.number(2, 2);
  c.need(':');
  t.minute = c.number(2, 2);
  c.need(':');
  t.second = c.number(2, 2);
  if (c.ok()) t.nanos = c.fraction();
  if (t.hour > 23 || t.minute > 59 || t.second > 60) c.fail();
  return t;
}

std::optional<ParsedTime> make(Cursor& c, int year, int month, int day, const TimeOfDay& t, TimeKind kind,
                               std::optional<std::int64_t> offset_seconds = std::nullopt) {
  if (!c.ok()) return std::nullopt;
  const auto seconds = unix_seconds(year, month, day, t.hour, t.minute, t.second);
  if (!seconds) return std::nullopt;
  ParsedTime parsed{{(*seconds - offset_seconds.value_or(0)) * kSecond + t.nanos, kind}, c.at()};
  parsed.time.zoned = offset_seconds.has_value();
  return parsed;
}

// "Z", "+02:00", "-0700", " UTC": seconds east of Greenwich; nothing when no zone is stated.
std::optional<std::int64_t> zone(Cursor& c) {
  if (c.take('Z')) return 0;
  static constexpr std::string_view kUtc[] = {" UTC", " GMT"};
  if (c.word(kUtc, 2) >= 0) return 0;
  const auto start = c.at();
  const auto rest = c.rest();
  if (rest.size() >= 5 && (rest[0] == '+' || rest[0] == '-') && Cursor::is_digit(rest[1])) {
    Cursor z(rest.substr(1));
    const int hours = z.number(2, 2);
    z.take(':');
    const int minutes = z.number(2, 2);
    if (z.ok() && hours <= 14 && minutes < 60) {
      c.seek(start + 1 + z.at());
      return (rest[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    }
  }
  return std::nullopt;
}

std::optional<ParsedTime> iso(std::string_view text) {
  Cursor c(text);
  const int year = c.number(4, 4);
  const char separator = c.take('/') ? '/' : '-';
  if (separator == '-') c.need('-');
  const int month = c.number(2, 2);
  c.need(separator);
  const int day = c.number(2, 2);
  if (!c.take('T')) {
    if (!c.take('_')) c.need(' ');
  }
  if (!c.ok()) return std::nullopt;
  const auto t = time_of_day(c);
  if (!c.ok()) return std::nullopt;
  return make(c, year, month, day, t, TimeKind::kUnix, zone(c));
}

constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::string_view kDays[] = {"Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "};

std::optional<ParsedTime> month_name(std::string_view text, int year) {
  Cursor c(text);
  c.word(kDays, 7);
  const int month = c.word(kMonths, 12);
  if (month < 0) return std::nullopt;
  c.need(' ');
  c.blanks();
  const int day = c.number(1, 2);
  c.need(' ');
  if (!c.ok()) return std::nullopt;
  const auto t = time_of_day(c);
  if (!c.ok()) return std::nullopt;
  const auto end = c.at();
  const auto offset = zone(c);
  if (c.take(' ')) {
    const int stated = c.number(4, 4);
    if (c.ok() && stated >= 1971 && (c.rest().empty() || !Cursor::is_digit(c.rest()[0]))) {
      return make(c, stated, month + 1, day, t, TimeKind::kUnix, offset);
    }
  }
  Cursor again(text);
  again.seek(end);
  return make(again, year, month + 1, day, t, TimeKind::kNoYear);
}

// "08-10 23:02:39" and "05/21 18:02:11".
std::optional<ParsedTime> month_day(std::string_view text, int year) {
  Cursor c(text);
  const int month = c.number(2, 2);
  if (!c.take('-')) c.need('/');
  const int day = c.number(2, 2);
  c.need(' ');
  if (!c.ok()) return std::nullopt;
  const auto t = time_of_day(c);
  return make(c, year, month, day, t, TimeKind::kNoYear);
}

std::optional<ParsedTime> clock_only(std::string_view text) {
  Cursor c(text);
  const auto t = time_of_day(c);
  if (!c.ok() || (!c.rest().empty() && c.rest()[0] == ':')) return std::nullopt;
  const std::int64_t seconds = t.hour * 3600 + t.minute * 60 + t.second;
  return ParsedTime{{seconds * kSecond + t.nanos, TimeKind::kTimeOfDay}, c.at()};
}

}  // namespace

std::optional<std::int64_t> unix_seconds(int year, int month, int day, int hour, int minute, int second) {
  static constexpr std::array<int, 12> kLength{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1) return std::nullopt;
  if (day > kLength[static_cast<std::size_t>(month - 1)] || hour > 23 || minute > 59 || second > 60)
    return std::nullopt;
  return days_from_civil(year, month, day) * kDay + hour * 3600 + minute * 60 + second;
}

int year_of(std::int64_t unix_ns) {
  const auto days = unix_ns / kSecond / kDay;
  int year = static_cast<int>(1970 + days * 400 / 146'097);
  while (days_from_civil(year + 1, 1, 1) <= days) ++year;
  while (days_from_civil(year, 1, 1) > days) --year;
  return year;
}

std::optional<ParsedTime> parse_time(std::string_view text, int year) {
  if (text.size() < 8) return std::nullopt;
  const int known_year = year > 0 ? year : kUnknownYear;
  if (!Cursor::is_digit(text[0])) return month_name(text, known_year);
  if (text[2] == ':') return clock_only(text);
  if (text[2] == '-' || text[2] == '/') return month_day(text, known_year);
  return iso(text);
}

std::optional<ParsedTime> parse_glog_time(std::string_view text, int year) {
  if (text.size() < 13 || std::string_view("IWEFCD").find(text[0]) == std::string_view::npos) return std::nullopt;
  std::size_t digits = 0;
  while (digits < 5 && Cursor::is_digit(text[1 + digits])) ++digits;
  if (digits != 3 && digits != 4) return std::nullopt;
  Cursor c(text.substr(1));
  const int month = c.number(digits - 2, digits - 2);
  const int day = c.number(2, 2);
  c.need(' ');
  if (!c.ok()) return std::nullopt;
  const auto t = time_of_day(c);
  auto parsed = make(c, year > 0 ? year : kUnknownYear, month, day, t, TimeKind::kNoYear);
  if (parsed) parsed->length += 1;
  return parsed;
}

model::Timestamp head_time(std::string_view body, int year) {
  constexpr std::size_t kHead = 64;
  const auto head = body.substr(0, kHead);
  if (head.size() > 1 && head[0] == '[') {
    if (const auto t = parse_glog_time(body.substr(1), year)) return t->time;
  }
  if (const auto t = parse_glog_time(body, year)) return t->time;
  // The first digit that starts a time, after a level word, a logger name or an opening bracket.
  for (std::size_t i = 0; i < head.size(); ++i) {
    const bool starts = Cursor::is_digit(head[i]) && (i == 0 || head[i - 1] == ' ' || head[i - 1] == '[' ||
                                                      head[i - 1] == '(' || head[i - 1] == ':');
    if (!starts) continue;
    if (const auto t = parse_time(body.substr(i), year)) return t->time;
  }
  return {};
}

namespace {

// Applies `f` to every time of the evidence.
template <typename F>
void for_each_time(model::Evidence& evidence, F f) {
  for (auto& e : evidence.events) f(e.time);
  for (auto& w : evidence.watchdog) f(w.time);
  for (auto& s : evidence.stacks) f(s.time);
  for (auto& r : evidence.ras) f(r.time);
  for (auto& c : evidence.nccl.comms) f(c.start), f(c.complete);
}

}  // namespace

void align_years(model::Evidence& evidence) {
  std::map<int, std::size_t> votes;
  for_each_time(evidence, [&](const model::Timestamp& t) {
    if (t.kind == TimeKind::kUnix && t.ns > 0) ++votes[year_of(t.ns)];
  });
  if (votes.empty()) {
    for (const auto& f : evidence.files) {
      if (f.modified_ns > 0) ++votes[year_of(f.modified_ns)];
    }
  }
  if (votes.empty()) return;
  const auto best =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const int year = best->first;
  for_each_time(evidence, [&](model::Timestamp& t) {
    if (t.kind != TimeKind::kNoYear || year_of(t.ns) != kUnknownYear) return;
    // 1970 is no leap year: a date from March on keeps its day number within the year.
    const auto seconds = t.ns / kSecond;
    auto day = seconds / kDay;
    const bool leap = days_from_civil(year + 1, 1, 1) - days_from_civil(year, 1, 1) == 366;
    if (leap && day >= 59) ++day;
    t.ns = ((days_from_civil(year, 1, 1) + day) * kDay + seconds % kDay) * kSecond + t.ns % kSecond;
  });
}

}  // namespace holter::formats::text
