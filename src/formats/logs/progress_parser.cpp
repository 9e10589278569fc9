// SPDX-License-Identifier: Apache-2.0
#include "formats/logs/progress_parser.h"

#include <array>
#include <bit>
#include <map>

#include "formats/logs/pattern.h"
#include "formats/text/prefilter.h"

namespace holter::formats::logs {

namespace {

using text::Line;

constexpr std::size_t kMaxRanks = 100'000;
constexpr std::size_t kMaxPhases = 2000;  // phase events of one file

struct PhaseWords {
  std::string_view words;  // in lower case, as they stand in the line
  std::string_view phase;
  std::string_view edge;
};

// The first row that fits wins: ends stand before starts.
constexpr std::array<PhaseWords, 46> kPhases{{
    {"application startup complete", "serving", "start"},
    {"the server is fired up", "serving", "start"},
    {"uvicorn running on", "serving", "start"},
    {"generation throughput", "serving", "at"},
    {"gen throughput (token/s)", "serving", "at"},
    {"checkpoint written", "checkpoint", "end"},
    {"saved checkpoint", "checkpoint", "end"},
    {"checkpoint saved", "checkpoint", "end"},
    {"successfully saved", "checkpoint", "end"},
    {"finished saving", "checkpoint", "end"},
    {"save took", "checkpoint", "end"},
    {"saving checkpoint", "checkpoint", "start"},
    {"writing checkpoint", "checkpoint", "start"},
    {"writing final checkpoint", "checkpoint", "start"},
    {"saving model checkpoint", "checkpoint", "start"},
    {"best, saving", "checkpoint", "start"},
    {"saving model to", "checkpoint", "start"},
    {"validation start", "evaluation", "start"},
    {"start evaluation", "evaluation", "start"},
    {"running evaluation", "evaluation", "start"},
    {"running validation", "evaluation", "start"},
    {"evaluation start", "evaluation", "start"},
    {"validation done", "evaluation", "end"},
    {"evaluation done", "evaluation", "end"},
    {"graph capturing finished", "graph_capture", "end"},
    {"capture cuda graph end", "graph_capture", "end"},
    {"capturing cuda graph", "graph_capture", "start"},
    {"capture cuda graph begin", "graph_capture", "start"},
    {"torch.compile takes", "compile", "end"},
    {"compilation finished", "compile", "end"},
    {"compiling a graph", "compile", "start"},
    {"torch.compile start", "compile", "start"},
    {"loading weights took", "load_weights", "end"},
    {"model loading took", "load_weights", "end"},
    {"load weight end", "load_weights", "end"},
    {"loading checkpoint shards", "load_weights", "at"},
    {"load weight begin", "load_weights", "start"},
    {"starting to load model", "load_weights", "start"},
    {"initializing a v", "load_weights", "start"},
    {"tokenizing", "data_prep", "at"},
    {"building train dataset index", "data_prep", "at"},
    {"waiting at barrier", "barrier", "start"},
    {"exiting, rc=0", "exit", "at"},
    {"training completed", "exit", "at"},
    {"max_epochs=", "train", "end"},
    {"training finished", "exit", "at"},
}};

struct Progress {
  Line place;  // number, time, rank, node, pid of the last line of progress
  std::string text, step, epoch, loss, first_step;
  std::uint64_t lines = 0;
};

// Bit i of a mask: row i.
const text::Prefilter& phase_words() {
  static_assert(kPhases.size() <= 64);
  static const text::Prefilter words([] {
    std::vector<text::Prefilter::Literal> rows;
    for (std::size_t i = 0; i < kPhases.size(); ++i)
      rows.push_back({std::string(kPhases[i].words), std::uint64_t{1} << i});
    return rows;
  }());
  return words;
}

class ProgressParser final : public text::LineParser {
 public:
  std::vector<std::string_view> triggers() const override {
    std::vector<std::string_view> all{"step ",  "step=",  "step:",   "steps:", "iteration", "batch ", "epoch ",
                                      "epoch:", "epoch=", "'epoch'", "it/s]",  "s/it]",     "iter "};
    for (const auto& p : kPhases) all.push_back(p.words);
    std::erase_if(all, [](auto t) { return t.size() < 5; });
    return all;
  }
  std::string_view format() const override { return "training-log"; }

  void on_line(const Line& line, FileContext context, model::Evidence& out) override {
    phase(line, context, out);
    if (epoch_end_.match(line.body)) {
      auto e = text::event("progress.epoch_end", line, context, out);
      add_field(e, out, "epoch", epoch_end_[0]);
      add_field(e, out, "batches", epoch_end_[1]);
      add_field(e, out, "samples", epoch_end_[2]);
      if (phases_++ < kMaxPhases) out.events.push_back(std::move(e));
      return;
    }
    std::string_view step;
    if (step_.match(line.body)) step = step_[0];
    else if (bar_.match(line.body)) step = bar_[0];
    else return;
    auto found = ranks_.find(value(line.rank));
    if (found == ranks_.end()) {
      if (ranks_.size() >= kMaxRanks) return;
      found = ranks_.emplace(value(line.rank), Progress{}).first;
      found->second.first_step = step;
    }
    note(found->second, step, line);
  }

  void on_end(FileContext context, model::Evidence& out) override {
    for (auto& [rank, p] : ranks_) {
      p.place.body = p.text;
      auto e = text::event("progress.step", p.place, context, out);
      add_field(e, out, "step", p.step);
      add_field(e, out, "epoch", p.epoch);
      add_field(e, out, "loss", p.loss);
      add_field(e, out, "first_step", p.first_step);
      add_field(e, out, "lines", std::to_string(p.lines));
      out.events.push_back(std::move(e));
    }
  }

 private:
  void note(Progress& p, std::string_view step, const Line& line) {
    p.step = step;
    if (epoch_.match(line.body)) p.epoch = epoch_[0];
    if (loss_.match(line.body)) p.loss = loss_[0];
    p.place = line;
    p.place.raw = {};
    p.text = line.body.substr(0, 400);
    ++p.lines;
  }

  void phase(const Line& line, FileContext context, model::Evidence& out) {
    const auto rows = phase_words().masks(line.body.substr(0, 512));
    if (rows == 0 || phases_++ >= kMaxPhases) return;
    const auto& p = kPhases[static_cast<std::size_t>(std::countr_zero(rows))];
    auto e = text::event("progress.phase", line, context, out);
    add_field(e, out, "phase", p.phase);
    add_field(e, out, "edge", p.edge);
    out.events.push_back(std::move(e));
  }

  std::map<std::int32_t, Progress> ranks_;
  std::size_t phases_ = 0;
  Pattern step_{R"((?i)\b(?:global_?step|iteration|iter|step|steps|batch)\b['\"]?[\s=:\[]+\(?(\d{1,12})\b)"};
  Pattern bar_{R"(\|\s*(\d{1,12})/(\d{1,12}) \[)"};  // tqdm: " 12%|##   | 120/1000 [00:12<01:40, 9.1it/s]"
  Pattern epoch_{R"((?i)\bepoch\b['\"]?[\s=:\[]+(\d+(?:\.\d+)?))"};
  Pattern loss_{R"((?i)\b(?:\w*loss)\b['\"]?[\s=:]+(-?[\d.]+(?:e[+-]?\d+)?))"};
  Pattern epoch_end_{
      R"((?i)\bepoch[\s=:]+(\d+)\b[^\n]{0,40}?\b(?:done|finished|completed|ended|end)\b(?:.*?(\d+) (?:batches|steps))?(?:.*?(\d+) samples)?)"};
};

}  // namespace

std::unique_ptr<text::LineParser> make_progress_parser() { return std::make_unique<ProgressParser>(); }

}  // namespace holter::formats::logs
