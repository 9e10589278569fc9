// SPDX-License-Identifier: Apache-2.0
#include "hang/stack_meaning.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

namespace holter::hang {

namespace {

using Kind = model::StackRule::Kind;

std::string text_of(const model::Evidence& ev, const model::Frame& f) {
  const auto file = ev.text(f.file);
  return file.empty() ? std::string(ev.text(f.function)) : fmt::format("{} ({})", ev.text(f.function), file);
}

struct Entry {
  const model::StackRule* rule;
  Patterns patterns, also;
};

// What one distinct frame matches.
struct FrameMatches {
  std::vector<std::uint16_t> entries;  // sorted
  std::vector<std::uint16_t> also;     // entries whose second condition it fulfils, sorted
  bool library = false;
};

}  // namespace

struct StackDictionary::Impl {
  std::vector<Entry> entries;
  Patterns library;
  // By function and file: a job of thousands of ranks has few distinct frames.
  std::unordered_map<std::uint64_t, FrameMatches> memo;

  explicit Impl(const model::StackRules& rules) : library(rules.library_files) {
    for (const auto& rule : rules.entries) entries.push_back({&rule, Patterns(rule.patterns), Patterns(rule.also)});
  }

  const FrameMatches& matches(const model::Evidence& ev, const model::Frame& f) {
    const auto key = (static_cast<std::uint64_t>(f.function) << 32) | static_cast<std::uint32_t>(f.file);
    const auto [it, is_new] = memo.try_emplace(key);
    if (!is_new) return it->second;
    const auto text = text_of(ev, f);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].patterns.match(text)) it->second.entries.push_back(static_cast<std::uint16_t>(i));
      if (!entries[i].also.empty() && entries[i].also.match(text))
        it->second.also.push_back(static_cast<std::uint16_t>(i));
    }
    it->second.library = library.match(ev.text(f.file));
    return it->second;
  }
};

StackDictionary::StackDictionary(const model::StackRules& rules) : impl_(std::make_unique<Impl>(rules)) {}
StackDictionary::~StackDictionary() = default;

bool StackMeaning::phase(std::string_view name) const {
  return std::any_of(phases.begin(), phases.end(), [&](const auto* rule) { return rule->phase == name; });
}

StackMeaning StackDictionary::explain(const model::Evidence& ev, const ThreadStack& thread) const {
  auto& impl = *impl_;
  StackMeaning out;
  constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::size_t> innermost(impl.entries.size(), kNone);
  std::vector<std::size_t> also_at(impl.entries.size(), kNone), also_count(impl.entries.size(), 0);
  for (std::size_t i = 0; i < thread.frames.size(); ++i) {
    const auto& frame = thread.frames[i];
    const auto& m = impl.matches(ev, frame);
    for (const auto e : m.entries) innermost[e] = i;
    for (const auto e : m.also) also_at[e] = i, ++also_count[e];
    if (frame.kind == model::FrameKind::kPython && !m.library) {
      out.caller = i;
      out.user_innermost = i + 1 == thread.frames.size();
    } else if (i + 1 == thread.frames.size()) {
      out.user_innermost = false;
    }
  }
  const auto found = [&](Kind kind, std::string_view id = {}, std::string_view not_id = {}) -> StackMatch {
    for (std::size_t e = 0; e < impl.entries.size(); ++e) {
      const auto* rule = impl.entries[e].rule;
      if (innermost[e] == kNone || rule->kind != kind || (!id.empty() && rule->id != id) || rule->id == not_id)
        continue;
      const bool other = also_count[e] > (also_at[e] == innermost[e] ? 1u : 0u);
      if (!rule->also.empty() && !other) continue;
      return {rule, innermost[e]};
    }
    return {};
  };
  out.collective = found(Kind::kCollective);
  out.device = found(Kind::kDevice);
  out.reason = found(Kind::kReason);
  out.lock = found(Kind::kLock, {}, "gil.wait");
  out.gil_wait = found(Kind::kLock, "gil.wait");
  for (std::size_t i = thread.frames.size(); i-- > 0;) {
    for (const auto e : impl.matches(ev, thread.frames[i]).entries) {
      const auto* rule = impl.entries[e].rule;
      if (rule->kind == Kind::kPhase && std::find(out.phases.begin(), out.phases.end(), rule) == out.phases.end()) {
        out.phases.push_back(rule);
      }
    }
  }
  // Who is inside whom decides: a barrier inside a save waits; a collection inside a barrier works.
  const bool reason_inside = out.reason && out.reason.rule->inside_call;
  if (out.collective && !reason_inside &&
      (!out.reason || out.collective.frame >= out.reason.frame || out.reason.rule->id.starts_with("user.") ||
       out.reason.rule->id.starts_with("storage."))) {
    out.doing = Doing::kCollective;
  } else if (out.device && !reason_inside && (!out.reason || out.device.frame > out.reason.frame)) {
    out.doing = Doing::kDevice;
  } else if (out.reason) {
    out.doing = Doing::kReason;
  } else if (out.collective) {
    out.doing = Doing::kCollective;
  }
  return out;
}

std::string frame_text(const model::Evidence& evidence, const model::Frame& frame) {
  const auto file = evidence.text(frame.file);
  if (file.empty()) return std::string(evidence.text(frame.function));
  if (frame.line < 0) return fmt::format("{} ({})", evidence.text(frame.function), file);
  return fmt::format("{} ({}:{})", evidence.text(frame.function), file, frame.line);
}

}  // namespace holter::hang
