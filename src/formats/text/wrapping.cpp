// SPDX-License-Identifier: Apache-2.0
#include "formats/text/wrapping.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "formats/text/json_line.h"
#include "formats/text/line_reader.h"
#include "formats/text/timestamps.h"

namespace holter::formats::text {

namespace {

constexpr int kMaxLayers = 8;
constexpr std::size_t kMaxName = 63;
constexpr std::int32_t kMaxRank = 1 << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_'; }

// Removes CSI sequences ("\x1b[31m") and lone escapes.
void strip_ansi(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      out += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && !(text[i] >= 0x40 && text[i] <= 0x7e)) ++i;
    }
  }
}

// "(text up to) the separator": the part before, and the rest without it.
bool cut(std::string_view text, std::string_view separator, std::string_view& before, std::string_view& after) {
  const auto at = text.find(separator);
  if (at == std::string_view::npos) return false;
  before = text.substr(0, at);
  after = text.substr(at + separator.size());
  return true;
}

std::optional<std::int32_t> rank_number(std::string_view digits) {
  const auto n = base::to_int<std::int32_t>(digits);
  return n && *n >= 0 && *n < kMaxRank ? n : std::nullopt;
}

// "rank3", "RANK 3", "default3", "rank: 3", "Rank-3".
std::optional<std::int32_t> rank_word(std::string_view word) {
  for (const std::string_view name : {"rank", "Rank", "RANK", "default", "global_rank"}) {
    if (!word.starts_with(name)) continue;
    word.remove_prefix(name.size());
    while (!word.empty() && (word[0] == ' ' || word[0] == ':' || word[0] == '=' || word[0] == '-' || word[0] == '_')) {
      word.remove_prefix(1);
    }
    return rank_number(word);
  }
  return std::nullopt;
}

// Names before ": " that are devices or counters of the message, never hosts.
bool is_host_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxName || !is_alpha(name[0]) || !is_name(name.back())) return false;
  if (std::none_of(name.begin(), name.end(), is_digit) || !std::all_of(name.begin(), name.end(), is_name)) return false;
  std::string stem;
  for (const char c : name) {
    if (!is_alpha(c)) break;
    stem += c;
  }
  stem = base::lower(stem);
  static const std::set<std::string_view> things{
      "gpu", "cuda", "rank",    "step", "epoch", "layer", "worker", "mlx",   "eth",    "enp", "ens",     "eno",  "bond",
      "lo",  "nvme", "channel", "iter", "line",  "stage", "expert", "model", "thread", "tp",  "pp",      "dp",   "ep",
      "u",   "v",    "x",       "sd",   "md",    "hfi",   "bnxt",   "irdma", "tid",    "pid", "attempt", "batch"};
  if (stem == "ib" && name.size() == 3) return false;  // the interface ib0; a host may be ib06
  return !things.contains(stem);
}

// The name of a "gn7: " prefix, or nothing.
std::string_view host_prefix(std::string_view line) {
  const auto end = line.substr(0, kMaxName + 1).find(": ");
  if (end == std::string_view::npos) return {};
  const auto name = line.substr(0, end);
  return is_host_name(name) ? name : std::string_view();
}

// The digits of a "3: " prefix (srun pads them to equal width), or nothing.
std::string_view number_prefix(std::string_view line) {
  const auto start = line.find_first_not_of(' ');
  if (start == std::string_view::npos || start > 6) return {};
  auto end = start;
  while (end < line.size() && end - start < 7 && is_digit(line[end])) ++end;
  if (end == start || !line.substr(end).starts_with(":")) return {};
  if (end + 1 < line.size() && line[end + 1] != ' ') return {};
  return line.substr(start, end - start);
}

}  // namespace

Unwrapper::Unwrapper(const model::SourceFile& file, model::Evidence& out)
    : out_(out), file_rank_(file.name_rank), file_node_(file.name_node) {}

void Unwrapper::learn(std::string_view head) {
  constexpr std::size_t kSample = 400;
  std::size_t lines = 0, numbered = 0, hosted = 0, ranked = 0;
  std::set<std::int32_t> ranks;
  while (!head.empty() && lines < kSample) {
    const auto line = next_line(head);
    if (base::trim(line).empty()) continue;
    ++lines;
    if (const auto task = number_prefix(line); !task.empty()) {
      ++numbered;
      // "0: [rank5]: ..": tasks are launchers of several ranks each.
      const auto inner = line.find("[rank");
      const auto close = inner == std::string_view::npos ? inner : line.find(']', inner);
      if (close != std::string_view::npos) {
        const auto rank = rank_word(line.substr(inner + 1, close - inner - 1));
        if (rank && rank != rank_number(task)) tasks_are_ranks_ = false;
      }
    }
    if (!host_prefix(line).empty()) ++hosted;
    const auto close = line.starts_with('[') ? line.find(']') : std::string_view::npos;
    if (close != std::string_view::npos) {
      const auto rank = rank_word(line.substr(1, close - 1));
      if (rank) ++ranked, ranks.insert(*rank);
    }
  }
  task_numbers_ = lines > 0 && numbered * 10 >= lines * 6;
  host_names_ = lines > 0 && hosted * 10 >= lines * 6;
  many_ranks_ = (task_numbers_ && tasks_are_ranks_) || (ranks.size() > 1 && ranked * 10 >= lines * 3);
}

void Unwrapper::set_time(Line& line, const model::Timestamp& time) {
  if (time.kind == model::TimeKind::kUnix) year_ = year_of(time.ns);
  // A complete time beats a partial one; else the outermost (the collector's) is taken over.
  if (line.time.kind == model::TimeKind::kNone || time.kind == model::TimeKind::kUnix) line.time = time;
}

void Unwrapper::unwrap(Line& line) {
  auto body = line.raw;
  line.time = {};
  line.rank = model::GlobalRank::kNone;
  line.node = model::StrId::kEmpty;
  line.pid = -1;
  line.repeats = 1;
  while (!body.empty() && body[0] == '\0') body.remove_prefix(1);
  if (body.find('\x1b') != std::string_view::npos) {
    strip_ansi(body, plain_);
    body = plain_;
  }
  // A progress bar rewrites its line: what stands after the last carriage return is what is seen.
  if (const auto at = body.rfind('\r'); at != std::string_view::npos && !base::trim(body.substr(at)).empty()) {
    body.remove_prefix(at + 1);
  }
  for (int layer = 0; layer < kMaxLayers && peel(body, line); ++layer) {}
  peel_repeats(body, line);
  if (line.time.kind == model::TimeKind::kNone) set_time(line, head_time(body, year_));
  if (line.rank == model::GlobalRank::kNone) line.rank = file_rank_;
  if (line.node == model::StrId::kEmpty) line.node = file_node_;
  line.body = body;
}

bool Unwrapper::peel(std::string_view& body, Line& line) {
  const auto start = body.find_first_not_of(' ');
  if (start == std::string_view::npos || body.size() - start < 3) return false;
  auto inner = body.substr(start);
  bool peeled = false;
  // Blanks before a wrapping go with it; blanks of the message itself stay.
  switch (inner[0]) {
    case '[': peeled = peel_bracket(inner, line); break;
    case '(': peeled = peel_paren(inner, line); break;
    case '{': peeled = start == 0 && peel_json(inner, line); break;
    default:
      peeled =
          (start == 0 && peel_time(inner, line)) || peel_number(inner, line) || (start == 0 && peel_host(inner, line));
  }
  if (peeled) body = inner;
  return peeled;
}

bool Unwrapper::peel_bracket(std::string_view& body, Line& line) {
  const auto close = body.substr(0, 256).find(']');
  if (close == std::string_view::npos) return false;
  const auto inner = body.substr(1, close - 1);
  auto rest = body.substr(close + 1);
  if (const auto rank = rank_word(inner)) {
    if (inner[0] == 'R') return false;  // "[Rank 0] Watchdog": the rank in a group, part of the message
    line.rank = model::GlobalRank{*rank};
    if (rest.starts_with(":")) rest.remove_prefix(1);
    if (rest.starts_with(" ")) rest.remove_prefix(1);
    body = rest;
    return true;
  }
  std::string_view job, task;
  if (cut(inner, ",", job, task) && base::to_int<int>(job) && rank_number(task) &&
      (rest.starts_with("<std"))) {  // mpirun --tag-output
    line.rank = model::GlobalRank{*rank_number(task)};
    const auto end = rest.find('>');
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + 1);
    if (rest.starts_with(":")) rest.remove_prefix(1);
    body = rest;
    return true;
  }
  if (inner.starts_with("pod/")) {
    const auto pod = inner.substr(4, inner.find('/', 4) - 4);
    line.node = out_.intern(pod);
    body = rest.starts_with(" ") ? rest.substr(1) : rest;
    return true;
  }
  const auto trimmed = base::trim(inner);
  if (const auto t = parse_time(trimmed, year_)) {
    const auto after = base::trim(trimmed.substr(t->length));
    if (after.size() > 24) return false;  // "[2026-.. file.py:12] ..": a head, part of the message
    set_time(line, t->time);
    body = rest.starts_with(" ") ? rest.substr(1) : rest;
    return true;
  }
  // "[12345.678901] ": seconds since boot, with the fraction that tells it from an index.
  const auto dot = trimmed.find('.');
  if (dot != std::string_view::npos && trimmed.size() - dot == 7) {
    const auto seconds = base::to_int<std::int64_t>(trimmed.substr(0, dot));
    const auto micros = base::to_int<std::int64_t>(trimmed.substr(dot + 1));
    if (seconds && micros && *seconds >= 0 && *seconds < 4'000'000'000) {
      if (line.time.kind == model::TimeKind::kNone) {
        line.time = {*seconds * 1'000'000'000 + *micros * 1000, model::TimeKind::kMonotonic};
      }
      body = rest.starts_with(" ") ? rest.substr(1) : rest;
      return true;
    }
  }
  return false;
}

// "(ActorModelRayActor pid=9133, ip=10.44.9.27) ", "(Worker_TP0 pid=71) ".
bool Unwrapper::peel_paren(std::string_view& body, Line& line) {
  const auto close = body.substr(0, 256).find(") ");
  const auto pid_at = body.substr(0, 200).find(" pid=");
  if (close == std::string_view::npos || pid_at == std::string_view::npos || pid_at > close) return false;
  const auto inner = body.substr(1, close - 1);
  for (auto field : base::split_blanks(inner.substr(pid_at))) {
    if (field.ends_with(",")) field.remove_suffix(1);
    if (field.starts_with("pid=")) line.pid = base::to_int<std::int32_t>(field.substr(4)).value_or(-1);
    if (field.starts_with("ip=")) line.node = out_.intern(field.substr(3));
    if (field.starts_with("rank=")) {
      if (const auto rank = rank_number(field.substr(5))) line.rank = model::GlobalRank{*rank};
    }
  }
  if (line.pid < 0) return false;
  body.remove_prefix(close + 2);
  return true;
}

bool Unwrapper::peel_time(std::string_view& body, Line& line) {
  if (!is_digit(body[0]) && !is_alpha(body[0])) return false;
  const auto t = parse_time(body, year_);
  if (!t || t->time.kind == model::TimeKind::kTimeOfDay) return false;
  auto rest = body.substr(t->length);
  if (!rest.empty() && rest[0] != ' ' && rest[0] != '\t' && rest[0] != ']' && rest[0] != ':') return false;
  set_time(line, t->time);
  if (!rest.empty()) rest.remove_prefix(1);
  // The container runtime's form: "<time> stdout F message".
  for (const std::string_view stream : {"stdout F ", "stderr F ", "stdout P ", "stderr P "}) {
    if (rest.starts_with(stream)) {
      body = rest.substr(stream.size());
      return true;
    }
  }
  while (rest.starts_with("- ") || rest.starts_with(" ")) rest.remove_prefix(rest[0] == '-' ? 2 : 1);
  body = rest;
  peel_syslog_host(body, line);
  return true;
}

// After a syslog time: "host kernel: msg", "host slurmd[321]: msg".
bool Unwrapper::peel_syslog_host(std::string_view& body, Line& line) {
  const auto blank = body.substr(0, kMaxName + 1).find(' ');
  if (blank == std::string_view::npos || blank == 0) return false;
  const auto host = body.substr(0, blank);
  if (!std::all_of(host.begin(), host.end(), is_name)) return false;
  auto rest = body.substr(blank + 1);
  const auto colon = rest.substr(0, 80).find(": ");
  if (colon == std::string_view::npos) return false;
  const auto program = rest.substr(0, colon);
  if (program == "kernel") {
    line.node = out_.intern(host);
    body = rest.substr(colon + 2);
    return true;
  }
  const auto open = program.find('[');
  if (open == std::string_view::npos || !program.ends_with("]")) return false;
  const auto pid = base::to_int<std::int32_t>(program.substr(open + 1, program.size() - open - 2));
  if (!pid || !std::all_of(program.begin(), program.begin() + static_cast<std::ptrdiff_t>(open), is_name)) return false;
  line.node = out_.intern(host);
  line.pid = *pid;
  body = rest;  // the program name stays: "slurmd[321]: error: ..."
  return true;
}

bool Unwrapper::peel_number(std::string_view& body, Line& line) {
  if (!task_numbers_ || !is_digit(body[0])) return false;
  const auto digits = number_prefix(body);
  const auto rank = rank_number(digits);
  if (!rank) return false;
  if (tasks_are_ranks_) line.rank = model::GlobalRank{*rank};
  body.remove_prefix(std::min(body.size(), digits.size() + 2));
  return true;
}

bool Unwrapper::peel_host(std::string_view& body, Line& line) {
  if (!host_names_) return false;
  const auto name = host_prefix(body);
  if (name.empty()) return false;
  line.node = out_.intern(name);
  body.remove_prefix(name.size() + 2);
  return true;
}

bool Unwrapper::peel_json(std::string_view& body, Line& line) {
  auto json = parse_json_line(base::trim(body));
  if (!json.is_log) return false;
  if (const auto t = parse_time(json.time, year_)) {
    set_time(line, t->time);
  } else if (const auto seconds = base::to_double(json.time); seconds && *seconds > 1e8 && *seconds < 1e17) {
    // Seconds, milliseconds, microseconds (journald) or nanoseconds since 1970, by magnitude.
    double scale = 1e9;
    for (double limit = 1e11; *seconds > limit && scale > 1; limit *= 1e3) scale /= 1e3;
    model::Timestamp since_1970{static_cast<std::int64_t>(*seconds * scale), model::TimeKind::kUnix};
    since_1970.zoned = true;
    set_time(line, since_1970);
  }
  if (json.rank >= 0 && json.rank < kMaxRank) line.rank = model::GlobalRank{static_cast<std::int32_t>(json.rank)};
  if (json.pid >= 0 && json.pid < (1 << 30)) line.pid = static_cast<std::int32_t>(json.pid);
  if (!json.host.empty() && json.host.size() <= 255) line.node = out_.intern(json.host);
  message_ = std::move(json.message);
  body = message_;
  return true;
}

// Ray folds equal lines of its actors: "... [repeated 6x across cluster]".
void Unwrapper::peel_repeats(std::string_view& body, Line& line) {
  const auto trimmed = base::trim(body);
  if (!trimmed.ends_with("x across cluster]") && !trimmed.ends_with("for more options.)")) return;
  const auto at = body.rfind("[repeated ");
  if (at == std::string_view::npos) return;
  const auto x = body.find('x', at);
  if (x == std::string_view::npos) return;
  const auto n = base::to_int<std::int32_t>(body.substr(at + 10, x - at - 10));
  if (!n || *n <= 0) return;
  line.repeats = *n;
  body = body.substr(0, at);
  while (body.ends_with(' ')) body.remove_suffix(1);
}

}  // namespace holter::formats::text
