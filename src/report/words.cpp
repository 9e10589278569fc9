// SPDX-License-Identifier: Apache-2.0
#include "report/words.h"

#include <algorithm>

#include <fmt/format.h>

namespace holter::report {

namespace {

// Days since 1970-01-01 -> civil date (Howard Hinnant's algorithm; no C library time zone state).
struct Date {
  std::int64_t year;
  unsigned month, day;
};
Date civil(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const auto doe = static_cast<unsigned>(days - era * 146097);
  const unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const unsigned mp = (5 * doy + 2) / 153;
  const unsigned month = mp < 10 ? mp + 3 : mp - 9;
  return {static_cast<std::int64_t>(yoe) + era * 400 + (month <= 2 ? 1 : 0), month, doy - (153 * mp + 2) / 5 + 1};
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

bool digits_only(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Ranks without more detail than their number fold into one range.
bool plain_rank(const model::Culprit& c) {
  return c.kind == model::CulpritKind::kRank && c.rank && c.node.empty() && c.gpu.empty() && c.name.empty();
}

}  // namespace

std::string place(const model::Citation& c) {
  switch (c.at.kind) {
    case model::PosKind::kLine: return fmt::format("{}:{}", c.source, c.at.pos);
    case model::PosKind::kRecord: return fmt::format("{} record {}", c.source, c.at.pos);
    case model::PosKind::kOffset: return fmt::format("{} offset {}", c.source, c.at.pos);
    case model::PosKind::kNone: break;
  }
  return c.source;
}

std::string culprit_text(const model::Culprit& c) {
  std::string out;
  const bool by_rank = c.rank && (c.kind == model::CulpritKind::kRank || c.kind == model::CulpritKind::kProcess ||
                                  c.kind == model::CulpritKind::kGpu || c.kind == model::CulpritKind::kLink);
  if (c.kind == model::CulpritKind::kRank && c.rank) out = fmt::format("rank {}", *c.rank);
  else if (c.kind == model::CulpritKind::kNode) out = "node " + (c.node.empty() ? c.name : c.node);
  else if (!c.name.starts_with("GPU ")) out = model::to_string(c.kind);
  if (c.kind != model::CulpritKind::kNode && c.kind != model::CulpritKind::kRank && !c.name.empty())
    out += (out.empty() ? "" : " ") + c.name;
  if (by_rank && c.kind != model::CulpritKind::kRank) out += fmt::format(" of rank {}", *c.rank);
  // Names may hold the place; an index of one or two digits is in many of them by chance.
  const auto says = [&](const std::string& part) { return part.size() > 2 && c.name.find(part) != std::string::npos; };
  if (c.kind != model::CulpritKind::kNode && !c.node.empty() && !says(c.node)) out += " on " + c.node;
  if (!c.gpu.empty() && !says(c.gpu)) out += (c.kind == model::CulpritKind::kGpu ? " " : ", GPU ") + c.gpu;
  if (!c.peer.empty()) out += " to " + c.peer;
  if ((c.kind == model::CulpritKind::kNode && !c.node.empty() && !c.name.empty() && c.name != c.node) ||
      (c.kind == model::CulpritKind::kRank && !c.name.empty())) {
    out += " (" + c.name + ")";
  }
  return out;
}

std::string culprits_text(const std::vector<model::Culprit>& culprits) {
  static constexpr std::size_t kShown = 4;
  std::vector<std::int32_t> plain;
  std::vector<std::string> parts;
  for (const auto& c : culprits) {
    if (plain_rank(c)) plain.push_back(*c.rank);
    else parts.push_back(culprit_text(c));
  }
  if (!plain.empty()) parts.insert(parts.begin(), ranks_noun(model::RankSet::of(std::move(plain))));
  const std::size_t shown = std::min(parts.size(), kShown);
  std::string out =
      fmt::format("{}", fmt::join(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (parts.size() > shown) out += fmt::format(" and {} more", parts.size() - shown);
  return out;
}

std::string ranks_text(const model::RankSet& ranks, std::size_t limit) {
  const auto& all = ranks.ranges();
  std::string out;
  std::size_t printed = 0;
  for (std::size_t i = 0; i < all.size() && i < limit; ++i) {
    if (i > 0) out += ',';
    out +=
        all[i].first == all[i].last ? fmt::format("{}", all[i].first) : fmt::format("{}-{}", all[i].first, all[i].last);
    printed += static_cast<std::size_t>(all[i].last - all[i].first) + 1;
  }
  if (const auto size = ranks.size(); size > printed) out += fmt::format(" and {} more", count_text(size - printed));
  return out;
}

std::string ranks_noun(const model::RankSet& ranks, std::size_t limit) {
  if (ranks.empty()) return "no rank";
  return (ranks.size() == 1 ? "rank " : "ranks ") + ranks_text(ranks, limit);
}

std::string waited_text(const model::WaitEdge& e) {
  if (e.waited.empty()) return "an unknown rank";
  if (e.waited != e.waiters) return ranks_noun(e.waited);
  return e.waited.size() == 1 ? "its own device" : "each other";
}

std::string wait_text(const model::WaitEdge& e) {
  std::string out =
      fmt::format("{} {} for {}", ranks_noun(e.waiters), e.waiters.size() == 1 ? "waits" : "wait", waited_text(e));
  if (!e.op.empty()) out += " in " + e.op;
  if (e.seq >= 0) out += fmt::format(" #{}", e.seq);
  if (!e.group.empty()) out += (digits_only(e.group) ? " of group " : " of ") + e.group;
  return out;
}

std::string count_text(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(static_cast<std::size_t>(i), ",");
  return digits;
}

std::string count_noun(std::uint64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count_text(n), n == 1 ? one : many);
}

std::string time_text(std::int64_t unix_ns, bool fraction) {
  constexpr std::int64_t kSecond = 1'000'000'000, kDay = 86400;
  std::int64_t seconds = unix_ns / kSecond, ns = unix_ns % kSecond;
  if (ns < 0) ns += kSecond, --seconds;
  std::int64_t days = seconds / kDay, rest = seconds % kDay;
  if (rest < 0) rest += kDay, --days;
  const Date d = civil(days);
  std::string out = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", d.year, d.month, d.day, rest / 3600,
                                rest / 60 % 60, rest % 60);
  if (fraction && ns != 0) {
    std::string digits = fmt::format("{:09}", ns);
    while (digits.size() > 3 && digits.ends_with("000")) digits.resize(digits.size() - 3);
    out += "." + digits;
  }
  return out + "Z";
}

std::string span_text(std::int64_t seconds) {
  const std::int64_t days = seconds / 86400, h = seconds / 3600 % 24, m = seconds / 60 % 60, s = seconds % 60;
  if (days > 0) return fmt::format("{} d {}:{:02}:{:02}", days, h, m, s);
  return h > 0 ? fmt::format("{}:{:02}:{:02}", h, m, s) : fmt::format("{}:{:02}", m, s);
}

std::string spaced(std::string_view identifier) {
  std::string out(identifier);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

std::string deadline_text(const model::Report& r) {
  if (r.decision.expires_ns == 0) return "";
  if (r.created_ns == 0) return "watchdog kills at " + time_text(r.decision.expires_ns);
  const std::int64_t left = (r.decision.expires_ns - r.created_ns) / 1'000'000'000;
  return left <= 0 ? "watchdog deadline passed at " + time_text(r.decision.expires_ns)
                   : "watchdog kills in " + span_text(left);
}

std::string_view culprit_word(const model::Report& r) {
  return r.verdict.certainty == model::Certainty::kInconclusive ? "Suspect" : "Culprit";
}

std::string verdict_label(const model::Report& r) {
  if (r.verdict.certainty == model::Certainty::kNoFault) return "NO FAULT";
  if (r.verdict.kind == model::VerdictKind::kUndetermined) return "UNDETERMINED";
  return upper(spaced(model::to_string(r.verdict.kind))) + ", " + spaced(model::to_string(r.verdict.certainty));
}

}  // namespace holter::report
