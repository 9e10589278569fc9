// SPDX-License-Identifier: Apache-2.0
#include "hang/stack_threads.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include <re2/re2.h>

namespace holter::hang {

namespace {

using model::Frame;
using model::FrameKind;
using model::StackSample;
using model::ThreadRole;

bool has_kind(const std::vector<Frame>& frames, FrameKind kind) {
  return std::any_of(frames.begin(), frames.end(), [&](const Frame& f) { return f.kind == kind; });
}

// Python frames and states are read twice from one tool to see motion; a C stack joins either.
bool is_python(const StackSample& s) { return has_kind(s.frames, FrameKind::kPython); }

class Joiner {
 public:
  Joiner(const model::Evidence& ev, const Job& job, const model::StackRules& rules)
      : ev_(ev),
        main_(rules.main_threads),
        worker_(rules.worker_threads),
        helper_(rules.helper_threads),
        interpreter_(rules.interpreter_frames) {
    for (const auto& [rank, pid] : job.pid_of) rank_of_pid_.emplace(pid, rank);
    for (const auto& s : ev.stacks) {
      if (s.rank != model::GlobalRank::kNone && s.role == ThreadRole::kMain && s.worker < 0 && s.pid >= 0) {
        rank_of_pid_[s.pid] = value(s.rank);
      }
    }
  }

  std::vector<ThreadStack> run() {
    for (std::uint32_t i = 0; i < ev_.stacks.size(); ++i) groups_[key(ev_.stacks[i], i)].push_back(i);
    std::vector<ThreadStack> out;
    out.reserve(groups_.size());
    for (const auto& [k, samples] : groups_) {
      auto thread = join(samples);
      if (!thread.frames.empty()) out.push_back(std::move(thread));
    }
    name_main_threads(out);
    std::stable_sort(out.begin(), out.end(), [](const ThreadStack& a, const ThreadStack& b) {
      const auto order = [](const ThreadStack& t) {
        return std::make_tuple(t.role != ThreadRole::kMain, t.ranks.empty() ? -1 : t.ranks.first(), t.sample);
      };
      return order(a) < order(b);
    });
    return out;
  }

 private:
  using Key = std::tuple<std::int32_t, std::uint32_t, std::int32_t, std::int64_t, std::uint32_t, std::uint32_t>;

  std::int32_t rank_of(const StackSample& s) const {
    if (s.rank != model::GlobalRank::kNone) return value(s.rank);
    for (const auto pid : {s.pid, s.parent_pid}) {
      const auto found = pid < 0 ? rank_of_pid_.end() : rank_of_pid_.find(pid);
      if (found != rank_of_pid_.end()) return found->second;
    }
    return -1;
  }

  // Samples with one key are of one thread. A sample without ids is a thread of its own, except that
  // two main threads of one rank are the same.
  Key key(const StackSample& s, std::uint32_t index) const {
    const auto rank = rank_of(s);
    if (!s.ranks.empty()) return {-2, 0, -1, -1, 0, index};
    // A pid is unique on its node; a rank already says the node.
    const auto node = rank >= 0 ? 0 : static_cast<std::uint32_t>(s.node);
    if (s.role == ThreadRole::kMain && rank >= 0 && s.worker < 0) return {rank, node, s.pid, 0, 0, 0};
    if (s.pid >= 0 && s.tid >= 0) return {rank, node, s.pid, s.tid == s.pid ? 0 : s.tid, 0, 0};
    if (s.tid >= 0) return {rank, node, -1, s.tid, static_cast<std::uint32_t>(s.at.file), 0};
    return {rank, node, s.pid, -1, static_cast<std::uint32_t>(s.at.file), index + 1};
  }

  bool is_interpreter(const Frame& f) const {
    const auto [it, is_new] = interpreter_memo_.try_emplace(static_cast<std::uint32_t>(f.function), false);
    if (is_new) it->second = interpreter_.match(ev_.text(f.function));
    return it->second;
  }
  std::vector<Frame> without_interpreter(const std::vector<Frame>& frames) const {
    std::vector<Frame> out;
    out.reserve(frames.size());
    std::copy_if(frames.begin(), frames.end(), std::back_inserter(out),
                 [&](const Frame& f) { return !is_interpreter(f); });
    return out.empty() ? frames : out;
  }

  ThreadStack join(const std::vector<std::uint32_t>& samples) const {
    ThreadStack out;
    const auto latest_of = [&](bool python) {
      std::int64_t found = -1;
      for (const auto i : samples) {
        const auto& s = ev_.stacks[i];
        if (is_python(s) != python || has_kind(s.frames, FrameKind::kKernel)) continue;
        if (found < 0 || s.time.ns >= ev_.stacks[static_cast<std::size_t>(found)].time.ns) found = i;
      }
      return found;
    };
    const auto python = latest_of(true), native = latest_of(false);
    out.sample = python >= 0   ? static_cast<std::uint32_t>(python)
                 : native >= 0 ? static_cast<std::uint32_t>(native)
                               : samples.back();
    const auto& s = ev_.stacks[out.sample];
    out.ranks = s.ranks;
    if (const auto rank = rank_of(s); out.ranks.empty() && rank >= 0) out.ranks = model::RankSet{rank};
    out.frames = without_interpreter(s.frames);
    if (python >= 0 && native >= 0) {
      const auto& c = ev_.stacks[static_cast<std::size_t>(native)].frames;
      std::vector<bool> interpreter;
      for (const auto& f : c) interpreter.push_back(is_interpreter(f));
      out.frames = splice(out.frames, c, interpreter);
    }
    add_kernel(samples, out);
    out.motion = motion(samples, is_python(s));
    for (const auto i : samples) {
      if (i != out.sample) out.more.push_back(i);
      if (ev_.stacks[i].state != 0) out.state = ev_.stacks[i].state;
    }
    out.role = role(s);
    return out;
  }

  // The kernel's part of the stack is the innermost.
  void add_kernel(const std::vector<std::uint32_t>& samples, ThreadStack& out) const {
    if (has_kind(out.frames, FrameKind::kKernel)) return;
    for (const auto i : samples) {
      if (!has_kind(ev_.stacks[i].frames, FrameKind::kKernel)) continue;
      const auto kernel = without_interpreter(ev_.stacks[i].frames);
      out.frames.insert(out.frames.end(), kernel.begin(), kernel.end());
      return;
    }
  }

  Motion motion(const std::vector<std::uint32_t>& samples, bool python) const {
    const StackSample* before = nullptr;
    Motion out = Motion::kOnce;
    for (const auto i : samples) {
      const auto& s = ev_.stacks[i];
      if (is_python(s) != python || has_kind(s.frames, FrameKind::kKernel)) continue;
      if (before && before->tool == s.tool) {
        if (before->frames != s.frames) return Motion::kMoving;
        out = Motion::kStill;
      }
      before = &s;
    }
    return out;
  }

  ThreadRole role(const StackSample& s) const {
    if (s.role == ThreadRole::kWorker || s.worker >= 0) return ThreadRole::kWorker;
    // A child of a rank's process: its own main thread is a worker of the rank.
    if (s.parent_pid >= 0 && rank_of_pid_.contains(s.parent_pid)) return ThreadRole::kWorker;
    const auto name = ev_.text(s.thread_name);
    if (!name.empty()) {
      if (main_.match(name)) return ThreadRole::kMain;
      if (worker_.match(name)) return ThreadRole::kWorker;
      if (s.role != ThreadRole::kMain && helper_.match(name)) return ThreadRole::kHelper;
    }
    return s.role;
  }

  // Tools that do not name threads (faulthandler, merged groups): the thread that started at <module>
  // or main, or the only one of its process.
  void name_main_threads(std::vector<ThreadStack>& threads) const {
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<ThreadStack*>> by_process;
    for (auto& t : threads) {
      const auto& s = ev_.stacks[t.sample];
      if (!s.ranks.empty() && t.role == ThreadRole::kUnknown) t.role = ThreadRole::kMain;
      if (s.ranks.empty()) by_process[{t.ranks.empty() ? -1 : t.ranks.first(), s.pid}].push_back(&t);
    }
    for (auto& [process, list] : by_process) {
      const auto is_main = [](const ThreadStack* t) { return t->role == ThreadRole::kMain; };
      if (process.first < 0 || std::any_of(list.begin(), list.end(), is_main)) continue;
      for (auto* t : list) {
        const auto outer = ev_.text(t->frames.front().function);
        const bool start = outer == "<module>" || outer == "main" || list.size() == 1;
        if (t->role == ThreadRole::kUnknown && start) t->role = ThreadRole::kMain;
      }
    }
  }

  const model::Evidence& ev_;
  Patterns main_, worker_, helper_, interpreter_;
  std::unordered_map<std::int32_t, std::int32_t> rank_of_pid_;
  std::map<Key, std::vector<std::uint32_t>> groups_;
  mutable std::unordered_map<std::uint32_t, bool> interpreter_memo_;
};

}  // namespace

Patterns::Patterns(const std::vector<std::string>& patterns) {
  for (const auto& p : patterns) {
    auto re = std::make_unique<RE2>(p, RE2::Quiet);
    if (re->ok()) compiled_.push_back(std::move(re));
  }
}
Patterns::Patterns(Patterns&&) noexcept = default;
Patterns::~Patterns() = default;

bool Patterns::match(std::string_view text) const {
  const re2::StringPiece piece(text.data(), text.size());
  return std::any_of(compiled_.begin(), compiled_.end(), [&](const auto& re) { return RE2::PartialMatch(piece, *re); });
}

std::vector<Frame> splice(const std::vector<Frame>& python, const std::vector<Frame>& native,
                          const std::vector<bool>& native_is_interpreter) {
  std::vector<Frame> out = python;
  // A Python sample that already holds native frames at its inner end knows that part itself.
  if (!python.empty() && python.back().kind == FrameKind::kNative && python.back().line >= 0) return out;
  std::size_t from = 0;
  for (std::size_t i = 0; i < native.size(); ++i) {
    if (native_is_interpreter[i]) from = i + 1;
  }
  for (std::size_t i = from; i < native.size(); ++i) {
    if (!out.empty() && out.back().function == native[i].function) continue;
    out.push_back(native[i]);
  }
  return out;
}

std::vector<ThreadStack> join_threads(const model::Evidence& evidence, const Job& job, const model::StackRules& rules) {
  return Joiner(evidence, job, rules).run();
}

}  // namespace holter::hang
