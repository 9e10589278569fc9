// SPDX-License-Identifier: Apache-2.0
#include "diagnose/stack_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/strings.h"
#include "diagnose/places.h"

namespace holter::diagnose {

namespace {

using hang::Doing;

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::size_t indent(std::string_view code) { return std::min(code.find_first_not_of(" \t"), code.size()); }

}  // namespace

StackView view_stacks(const Context& context) {
  StackView view;
  const auto& ev = context.evidence;
  for (const auto& w : ev.watchdog) {
    if (value(w.rank) >= 0 && w.ran_ms > 0) view.timed_out.insert(value(w.rank));
  }
  if (ev.stacks.empty()) return view;
  view.threads = hang::join_threads(ev, context.job, context.rules.stacks);
  const hang::StackDictionary dictionary(context.rules.stacks);
  for (const auto& t : view.threads) view.meanings.push_back(dictionary.explain(ev, t));
  std::vector<std::int32_t> collective, device, other;
  for (std::uint32_t i = 0; i < view.threads.size(); ++i) {
    const auto& t = view.threads[i];
    if (t.role != model::ThreadRole::kMain) continue;
    const bool merged = !ev.stacks[t.sample].ranks.empty();
    for (const auto r : t.ranks.to_vector()) {
      // A rank's own stack says more than the group it was merged into.
      const auto [it, is_new] = view.main_of.try_emplace(r, i);
      if (!is_new && !merged && !ev.stacks[view.threads[it->second].sample].ranks.empty()) it->second = i;
    }
  }
  for (const auto& [rank, i] : view.main_of) {
    const auto doing = view.meanings[i].doing;
    (doing == Doing::kCollective ? collective : doing == Doing::kDevice ? device : other).push_back(rank);
  }
  view.in_collective = model::RankSet::of(std::move(collective));
  view.on_device = model::RankSet::of(std::move(device));
  view.elsewhere = model::RankSet::of(std::move(other));
  return view;
}

namespace {

// The innermost line of the user's own Python; interpreter and system frames say how it got there.
const model::Frame* user_line(const Context& context, const hang::ThreadStack& t) {
  for (std::size_t i = t.frames.size(); i-- > 0;) {
    const auto& f = t.frames[i];
    if (f.kind == model::FrameKind::kPython && f.line > 0 && !is_library_frame(context.text(f.file))) return &f;
  }
  return nullptr;
}

}  // namespace

std::string place(const Context& context, const StackView& view, std::uint32_t thread) {
  const auto& t = view.threads[thread];
  if (const auto* line = user_line(context, t)) return hang::frame_text(context.evidence, *line);
  for (const auto& other : view.threads) {  // another tool may have seen the Python side of this rank
    if (other.role != model::ThreadRole::kMain || other.ranks != t.ranks) continue;
    if (const auto* line = user_line(context, other)) return hang::frame_text(context.evidence, *line);
  }
  const auto caller = view.meanings[thread].caller;
  return hang::frame_text(context.evidence, caller == SIZE_MAX ? t.frames.back() : t.frames[caller]);
}

std::string matched_function(const Context& context, const StackView& view, std::uint32_t thread,
                             const hang::StackMatch& match) {
  const auto name = context.text(view.threads[thread].frames[match.frame].function);
  return std::string(name.substr(0, name.find('(')));  // without the types of a C++ function
}

model::Citation cite_stack(const Context& context, const StackView& view, std::uint32_t thread, std::string_view why) {
  const auto& t = view.threads[thread];
  const auto& s = context.evidence.stacks[t.sample];
  // The frames as the tool printed them: the joined stack may hold those of another sample.
  std::string text;
  for (std::size_t i = s.frames.size(); i-- > 0 && text.size() < 300;) {
    text += (text.empty() ? "" : " < ") + hang::frame_text(context.evidence, s.frames[i]);
  }
  if (const auto note = context.text(s.note); !note.empty()) text += fmt::format(" [{}]", note);
  return cite(context, s.at, base::ellipsize(text, 400), why);
}

Guard rank_guard(const Context& context, const StackView& view, std::uint32_t thread) {
  static const RE2 kGuard(
      R"(\bif\b.*(is_global_zero|is_(local_)?(main|master|primary|chief|rank_?(0|zero))\w*|rank_?zero|\brank\w*(\(\))?\s*==\s*0|not\s+\w*rank\b))");
  const auto& ev = context.evidence;
  std::map<std::uint64_t, const model::Fact*> lines;
  const auto& t = view.threads[thread];
  for (std::size_t i = t.frames.size(); i-- > 0;) {
    const auto& frame = t.frames[i];
    if (frame.line < 0) continue;
    lines.clear();
    for (const auto& f : ev.facts) {
      if (context.text(f.key) != "source.line" ||
          base_name(context.text(f.subject)) != base_name(context.text(frame.file)))
        continue;
      if (f.number >= frame.line - 15 && f.number <= frame.line + 15)
        lines.emplace(static_cast<std::uint64_t>(f.number), &f);
    }
    for (auto it = lines.begin(); it != lines.end(); ++it) {
      const auto code = context.text(it->second->value);
      if (!RE2::PartialMatch(re2::StringPiece(code.data(), code.size()), kGuard)) continue;
      Guard guard;
      guard.condition = {it->second, std::string(base::trim(code))};
      for (auto next = std::next(it); next != lines.end(); ++next) {
        const auto below = context.text(next->second->value);
        if (base::trim(below).empty()) continue;
        if (indent(below) <= indent(code)) break;
        guard.body.push_back({next->second, std::string(base::trim(below))});
      }
      if (!guard.body.empty()) return guard;
    }
  }
  return {};
}

model::Owner owner_of(std::string_view name) {
  static const std::map<std::string_view, model::Owner> kOwners{
      {"user_code", model::Owner::kUserCode}, {"framework", model::Owner::kFramework},
      {"platform", model::Owner::kPlatform},  {"network", model::Owner::kNetwork},
      {"storage", model::Owner::kStorage},    {"vendor", model::Owner::kVendor}};
  const auto found = kOwners.find(name);
  return found == kOwners.end() ? model::Owner::kUnknown : found->second;
}

}  // namespace holter::diagnose
