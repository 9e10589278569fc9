// SPDX-License-Identifier: Apache-2.0
// Stacks for speedscope (its file-format-schema.json, "sampled" profiles) and for flamegraph.pl and
// inferno (folded lines). Both read the outermost frame first.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "hang/stack_forest.h"
#include "report/export.h"
#include "report/export_text.h"
#include "report/json_out.h"

namespace holter::report {

namespace {

constexpr std::size_t kBuffer = 64 * 1024;

// Where stacks of the merged forest end: the node, and how many ranks are there.
struct Leaf {
  std::uint32_t node = 0;
  std::uint64_t weight = 0;
};

// Ranks that no child has ended here; stacks of unknown ranks are counted as they are.
std::vector<Leaf> leaves_of(const hang::StackForest& forest) {
  std::vector<Leaf> out;
  const auto& nodes = forest.nodes();
  for (std::uint32_t n = 1; n < nodes.size(); ++n) {
    std::uint64_t deeper = 0;
    model::RankSet ranks;
    for (const auto c : nodes[n].children) deeper += nodes[c].samples, ranks = ranks | nodes[c].ranks;
    if (nodes[n].samples <= deeper) continue;
    const std::uint64_t here = nodes[n].samples - deeper;
    const std::uint64_t ended = (nodes[n].ranks - ranks).size();
    // A rank may end here with one thread and go deeper with another.
    out.push_back({n, nodes[n].ranks.empty() ? here : std::max<std::uint64_t>(ended, 1)});
  }
  return out;
}

class Stacks {
 public:
  explicit Stacks(const ExportInput& input)
      : ev_(input.evidence),
        report_(input.report),
        show_(input),
        job_(hang::join_job(ev_)),
        threads_(hang::join_threads(ev_, job_, input.rules.stacks)),
        forest_(hang::build_forest(ev_, threads_)) {
    for (const auto& s : ev_.stacks) counts_.stacks += !s.frames.empty();
  }

  Exported speedscope(const Sink& sink) {
    if (counts_.stacks == 0) return counts_;
    group_samples();
    out_.object([&] {
      out_.field("$schema", std::string_view("https://www.speedscope.app/file-format-schema.json"));
      out_.field("exporter", "holter " + report_.tool_version);
      out_.field("name", one_line(report_.verdict.summary));
      out_.field("activeProfileIndex", std::int64_t{0});
      out_.key("profiles");
      out_.list([&] {
        merged(sink);
        for (const auto& [key, samples] : groups_) profile(std::get<0>(key), samples, sink);
      });
      // Known only now; the order of members means nothing in JSON.
      out_.object("shared", [&] {
        out_.key("frames");
        out_.list([&] {
          for (const auto& frame : frames_) write(frame), out_.drain(sink, kBuffer);
        });
      });
    });
    out_.drain(sink);
    return counts_;
  }

  Exported folded(const Sink& sink) {
    const auto& nodes = forest_.nodes();
    const auto leaves = leaves_of(forest_);
    if (leaves.empty()) counts_.stacks = 0;  // helper threads only
    std::string text;
    for (const auto& leaf : leaves) {
      const auto path = path_to(leaf.node);
      for (std::size_t i = 0; i < path.size(); ++i) {
        const auto& n = nodes[path[i]];
        text += (i == 0 ? "" : ";") + field(n.title.empty() ? hang::frame_text(ev_, n.frame) : n.title);
      }
      text += fmt::format(" {}\n", leaf.weight);
      if (text.size() >= kBuffer) sink(text), text.clear();
    }
    if (!text.empty()) sink(text);
    return counts_;
  }

 private:
  // Without the root "all".
  std::vector<std::uint32_t> path_to(std::uint32_t node) const {
    std::vector<std::uint32_t> path;
    for (auto n = node; n != hang::StackForest::kRoot; n = forest_.nodes()[n].parent) path.push_back(n);
    std::reverse(path.begin(), path.end());
    return path;
  }
  // ';' ends a frame in this format and has no escape of its own.
  std::string field(std::string_view name) {
    std::string out;
    for (const char c : show_(name)) out += c == ';' ? std::string("\\x3b") : std::string(1, c);
    return out.empty() ? "(no name)" : out;
  }

  // --- speedscope --------------------------------------------------------------
  struct Shared {
    model::Frame frame;
    std::string title;  // instead of a frame
  };
  std::uint32_t frame_index(const model::Frame& f) {
    const auto key =
        std::make_tuple(static_cast<std::uint32_t>(f.function), static_cast<std::uint32_t>(f.file), f.line);
    const auto [it, is_new] = frame_index_.emplace(key, frames_.size());
    if (is_new) frames_.push_back({f, ""});
    return it->second;
  }
  std::uint32_t title_index(const std::string& title) {
    const auto [it, is_new] = title_index_.emplace(title, frames_.size());
    if (is_new) frames_.push_back({{}, title});
    return it->second;
  }
  void write(const Shared& shared) {
    out_.object([&] {
      const auto name = shared.title.empty() ? show_(shared.frame.function) : show_(shared.title);
      out_.field("name", name.empty() ? std::string("(no name)") : std::string(name));
      out_.field("file", show_(shared.frame.file));
      if (shared.frame.line >= 0) out_.field("line", std::int64_t{shared.frame.line});
    });
  }

  // Head and weights of a profile; `each` is called with a function that takes one sample.
  template <typename Samples>
  void sampled(const std::string& name, const std::vector<std::uint64_t>& weights, const Sink& sink, Samples samples) {
    std::uint64_t total = 0;
    for (const auto w : weights) total += w;
    out_.object([&] {
      out_.field("type", std::string_view("sampled"));
      out_.field("name", name);
      out_.field("unit", std::string_view("none"));
      out_.field("startValue", std::int64_t{0});
      out_.field("endValue", static_cast<std::int64_t>(total));
      out_.key("samples");
      out_.list([&] {
        samples([&](const std::vector<std::uint32_t>& stack) {
          out_.list([&] {
            for (const auto f : stack) out_.number(f);
          });
          out_.drain(sink, kBuffer);
        });
      });
      out_.array("weights", weights, [&](std::uint64_t w) { out_.number(static_cast<std::int64_t>(w)); }, true);
    });
    out_.drain(sink, kBuffer);
  }

  void merged(const Sink& sink) {
    const auto leaves = leaves_of(forest_);
    if (leaves.empty()) return;  // helper threads only
    std::vector<std::uint64_t> weights;
    for (const auto& leaf : leaves) weights.push_back(leaf.weight);
    sampled("all ranks, merged (weight: ranks)", weights, sink, [&](const auto& sample) {
      for (const auto& leaf : leaves) {
        std::vector<std::uint32_t> stack;
        for (const auto n : path_to(leaf.node)) {
          const auto& node = forest_.nodes()[n];
          stack.push_back(node.title.empty() ? frame_index(node.frame) : title_index(node.title));
        }
        sample(stack);
      }
    });
  }

  // Rank where it is known, else process and node, else the file.
  static constexpr std::int32_t kNoRank = INT32_MAX;  // after all ranks
  using Key = std::tuple<std::int32_t, std::string, std::int32_t, std::uint32_t>;
  void group_samples() {
    std::unordered_map<std::uint32_t, std::int32_t> rank_of;  // workers have the rank of their parent
    for (const auto& t : threads_) {
      if (t.ranks.size() != 1) continue;
      rank_of[t.sample] = t.ranks.first();
      for (const auto i : t.more) rank_of[i] = t.ranks.first();
    }
    for (std::uint32_t i = 0; i < ev_.stacks.size(); ++i) {
      const auto& s = ev_.stacks[i];
      if (s.frames.empty()) continue;
      const auto known = rank_of.find(i);
      const auto rank = value(s.rank) >= 0 ? value(s.rank) : known != rank_of.end() ? known->second : -1;
      groups_[rank >= 0    ? Key{rank, "", -1, 0}
              : s.pid >= 0 ? Key{kNoRank, std::string(ev_.text(s.node)), s.pid, 0}
                           : Key{kNoRank, "", -1, value(s.at.file) + 1}]
          .push_back(i);
    }
  }
  std::string name_of(const model::StackSample& s, std::int32_t rank) {
    std::string name;
    if (rank != kNoRank) {
      name = fmt::format("rank {}", rank);
      if (const auto node = job_.node_of.find(rank); node != job_.node_of.end())
        name += fmt::format(" ({})", show_(node->second));
    } else if (s.pid >= 0) {
      name = fmt::format("process {}", s.pid);
      if (s.node != model::StrId::kEmpty) name += fmt::format(" ({})", show_(s.node));
    } else {
      name = show_.place({s.at.file, model::PosKind::kNone, 0});
    }
    return name.empty() ? "stacks" : name;
  }
  std::string thread_name(const model::StackSample& s) {
    std::string name = s.thread_name == model::StrId::kEmpty ? "thread" : "thread " + std::string(show_(s.thread_name));
    if (s.tid >= 0) name += fmt::format(" {}", s.tid);
    if (!s.ranks.empty()) name += " of ranks " + base::ellipsize(s.ranks.to_string(), 60);
    return name;
  }
  void profile(std::int32_t rank, const std::vector<std::uint32_t>& samples, const Sink& sink) {
    std::vector<std::uint64_t> weights;
    for (const auto i : samples) weights.push_back(std::max<std::uint32_t>(1, ev_.stacks[i].samples));
    sampled(name_of(ev_.stacks[samples.front()], rank), weights, sink, [&](const auto& sample) {
      for (const auto i : samples) {
        std::vector<std::uint32_t> stack{title_index(thread_name(ev_.stacks[i]))};
        for (const auto& f : ev_.stacks[i].frames) stack.push_back(frame_index(f));
        sample(stack);
      }
    });
  }
  const model::Evidence& ev_;
  const model::Report& report_;
  ExportText show_;
  hang::Job job_;
  std::vector<hang::ThreadStack> threads_;
  hang::StackForest forest_;
  std::map<Key, std::vector<std::uint32_t>> groups_;
  std::vector<Shared> frames_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::uint32_t> frame_index_;
  std::map<std::string, std::uint32_t> title_index_;
  JsonOut out_;
  Exported counts_;
};

}  // namespace

Exported to_speedscope(const ExportInput& input, const Sink& sink) { return Stacks(input).speedscope(sink); }
Exported to_folded(const ExportInput& input, const Sink& sink) { return Stacks(input).folded(sink); }

}  // namespace holter::report
