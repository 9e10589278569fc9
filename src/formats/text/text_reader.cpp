// SPDX-License-Identifier: Apache-2.0
#include "formats/text/text_reader.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"
#include "formats/text/line_reader.h"
#include "formats/text/quotation.h"
#include "formats/text/wrapping.h"

namespace holter::formats::text {

namespace {

constexpr std::size_t kTail = 16 * 1024;  // of the file, in which every line counts for log.last
constexpr std::size_t kHead = 16 * 1024;  // and for log.first
constexpr int kNeighbours = 30;           // lines to look for a time on either side
constexpr std::size_t kMaxSpeakers = 100'000;
constexpr std::size_t kMaxText = 400;
constexpr std::string_view kQuotation = "known error texts stand in quotations or comments, which prove nothing";

std::size_t records_in(const model::Evidence& ev) {
  return ev.events.size() + ev.watchdog.size() + ev.stacks.size() + ev.nccl.comms.size() + ev.nccl.edges.size() +
         ev.nccl.rings.size() + ev.nccl.trees.size() + ev.nccl.facts.size() + ev.ras.size() + ev.facts.size() +
         ev.tables.size();
}

std::size_t line_begin(std::string_view text, std::size_t at, std::size_t floor) {
  const void* found = at > floor ? memrchr(text.data() + floor, '\n', at - floor) : nullptr;
  return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + 1 : floor;
}

std::size_t line_end(std::string_view text, std::size_t at) {
  const auto end = text.find('\n', at);
  return end == std::string_view::npos ? text.size() : end;
}

std::string_view without_cr(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

// A line that may turn out to be the first or last of a speaker; its text is interned only then.
struct Remembered {
  model::Event event;
  std::string text;
};
struct Speaker {
  Remembered first, last;
};

// The pass over one file.
class Scan {
 public:
  Scan(const Prefilter& prefilter, std::vector<std::unique_ptr<LineParser>> parsers, FileContext context,
       model::Evidence& out)
      : prefilter_(prefilter),
        parsers_(std::move(parsers)),
        found_(parsers_.size()),
        context_(context),
        out_(out),
        unwrapper_(*context.file, out),
        neighbour_(*context.file, out) {}

  void run(ByteSource& source) {
    LineReader reader(source);
    for (auto block = reader.next_block(); !block.empty(); block = reader.next_block()) {
      if (first_block_) {
        unwrapper_.learn(block.substr(0, kMaxLine));
        neighbour_.learn(block.substr(0, kMaxLine));
      }
      scan(block);
      first_block_ = false;
      keep_tail(block);
    }
    tail();
    for (std::size_t i = 0; i < parsers_.size(); ++i) {
      count(i, [&] { parsers_[i]->on_end(context_, out_); });
    }
    cut_bytes_ += reader.dropped_bytes();
    finish();
  }

 private:
  struct Marked {
    std::size_t begin = 0, end = 0;  // of a line in block_
    std::uint64_t mask = 0;          // of the triggers in it
  };

  bool wants_all() const {
    return std::any_of(parsers_.begin(), parsers_.end(), [](const auto& p) { return p->wants_all(); });
  }

  void scan(std::string_view block) {
    block_ = block;
    counted_ = 0;
    mark_lines();
    auto mark = marked_.begin();
    std::size_t at = 0;
    while (at < block.size()) {
      while (mark != marked_.end() && mark->begin < at) ++mark;
      const bool every = unwrapper_.many_ranks() || (first_block_ && at < kHead) || wants_all();
      if (!every && mark == marked_.end()) break;
      const bool is_marked = !every || (mark != marked_.end() && mark->begin == at);
      const auto begin = is_marked ? mark->begin : at;
      const auto end = is_marked ? mark->end : line_end(block, begin);
      deliver(without_cr(block.substr(begin, end - begin)), begin, is_marked ? mark->mask : 0);
      at = end + 1;
    }
    lines_before_ += count_newlines(block.substr(counted_));
    if (!block.ends_with('\n')) ++lines_before_;
  }

  // The lines of the block that hold a trigger.
  void mark_lines() {
    marked_.clear();
    Marked line;
    prefilter_.for_each(block_, [&](const Prefilter::Hit& hit) {
      if (line.mask == 0 || hit.begin >= line.end || hit.begin < line.begin) {
        if (line.mask != 0) marked_.push_back(line);
        line = {line_begin(block_, hit.begin, 0), line_end(block_, hit.begin), 0};
      }
      line.mask |= hit.mask;
    });
    if (line.mask != 0) marked_.push_back(line);
    // Short triggers come last, and may stand in lines that are marked already.
    std::sort(marked_.begin(), marked_.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::size_t kept = 0;
    for (const auto& m : marked_) {
      if (kept > 0 && marked_[kept - 1].begin == m.begin) marked_[kept - 1].mask |= m.mask;
      else marked_[kept++] = m;
    }
    marked_.resize(kept);
  }

  void deliver(std::string_view raw, std::size_t begin, std::uint64_t mask) {
    lines_before_ += count_newlines(block_.substr(counted_, begin - counted_));
    counted_ = begin;
    Line line;
    line.raw = raw.substr(0, kMaxLine);
    cut_bytes_ += raw.size() - line.raw.size();
    line.number = lines_before_ + 1;
    unwrapper_.unwrap(line);
    const bool own_time = line.time.kind != model::TimeKind::kNone;
    if (own_time) last_time_ = line.time;
    note_speaker(line);
    mask = leave_out_quotations(line, mask);
    bool timed = own_time;
    for (std::size_t i = 0; i < parsers_.size(); ++i) {
      if (!(mask >> i & 1) && !parsers_[i]->wants_all()) continue;
      if (!timed) {
        inherit_time(line, begin);
        timed = true;
      }
      count(i, [&] { parsers_[i]->on_line(line, context_, out_); });
    }
  }

  // Leaves quotations out of the line when known words stand in them; returns the mask of what remains.
  std::uint64_t leave_out_quotations(Line& line, std::uint64_t mask) {
    if (mask == 0 || !may_quote(line.body)) return mask;
    auto rest = without_quotations(line.body);
    std::string quoted(line.body);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (rest[i] == quoted[i]) quoted[i] = ' ';
    }
    if ((mask & prefilter_.masks(quoted)) == 0) return mask;
    out_.add_problem(at(line, context_), std::string(kQuotation));
    without_quotations_ = std::move(rest);
    line.quoting = std::exchange(line.body, without_quotations_);
    return mask & prefilter_.masks(line.body);
  }

  template <typename F>
  void count(std::size_t parser, F f) {
    const auto before = records_in(out_);
    f();
    found_[parser] += records_in(out_) - before;
  }

  // The time of the next dated line when it is near, else of the one before.
  void inherit_time(Line& line, std::size_t begin) {
    constexpr std::int64_t kNear = 60'000'000'000;
    const auto before = look_back(begin);
    const auto after = look_ahead(begin);
    const auto none = model::TimeKind::kNone;
    if (before.kind == none && after.kind == none) return;
    const bool near = after.kind != none && (before.kind != after.kind || after.ns - before.ns <= kNear);
    line.time = near ? after : before.kind != none ? before : after;
    line.time_inherited = true;
  }

  model::Timestamp time_of(std::size_t begin, std::size_t end) {
    Line other;
    other.raw = without_cr(block_.substr(begin, std::min(end - begin, kMaxLine)));
    neighbour_.unwrap(other);
    return other.time;
  }
  model::Timestamp look_back(std::size_t begin) {
    auto end = begin;
    for (int i = 0; i < kNeighbours && end > 0; ++i) {
      const auto start = line_begin(block_, end - 1, 0);
      const auto time = time_of(start, end - 1);
      if (time.kind != model::TimeKind::kNone) return time;
      end = start;
    }
    return last_time_;
  }
  model::Timestamp look_ahead(std::size_t begin) {
    auto start = line_end(block_, begin) + 1;
    for (int i = 0; i < kNeighbours && start < block_.size(); ++i) {
      const auto end = line_end(block_, start);
      const auto time = time_of(start, end);
      if (time.kind != model::TimeKind::kNone) return time;
      start = end + 1;
    }
    return {};
  }

  void note_speaker(const Line& line) {
    if (base::trim(line.body).empty()) return;
    auto found = speakers_.find(value(line.rank));
    if (found == speakers_.end()) {
      if (speakers_.size() >= kMaxSpeakers) return;
      found = speakers_.emplace(value(line.rank), Speaker{}).first;
      set(found->second.first, line);
    }
    set(found->second.last, line);
  }
  void set(Remembered& remembered, const Line& line) {
    auto& event = remembered.event;
    event.at = at(line, context_);
    event.time = line.time;
    event.rank = line.rank;
    event.node = line.node;
    event.pid = line.pid;
    remembered.text.assign(base::trim(line.body).substr(0, kMaxText));
  }

  void keep_tail(std::string_view block) {
    const auto from = block.size() > kTail ? line_begin(block, block.size() - kTail, 0) : 0;
    tail_.assign(block.substr(from, 2 * kTail));
    tail_first_line_ = lines_before_ - count_newlines(block.substr(from)) - (block.ends_with('\n') ? 0 : 1);
  }
  // The end of the file: who spoke last, whatever the lines say.
  void tail() {
    std::string_view rest = tail_;
    auto number = tail_first_line_;
    while (!rest.empty()) {
      Line line;
      line.raw = next_line(rest).substr(0, kMaxLine);
      line.number = ++number;
      unwrapper_.unwrap(line);
      note_speaker(line);
    }
  }

  void finish() {
    std::size_t most = 0, total = 0;
    for (std::size_t i = 0; i < parsers_.size(); ++i) {
      total += found_[i];
      if (found_[i] > most) most = found_[i], context_.file->format = parsers_[i]->format();
    }
    context_.file->lines = lines_before_;
    context_.file->counts["lines"] += lines_before_;
    if (total > 0) context_.file->counts["events"] += total;
    context_.file->status = total > 0 ? model::FileStatus::kRead : model::FileStatus::kSearched;
    if (cut_bytes_ > 0) {
      out_.add_problem({context_.id, model::PosKind::kNone, 0},
                       fmt::format("lines longer than 64 KiB were cut; {} bytes left out", cut_bytes_));
    }
    for (auto& [rank, speaker] : speakers_) {
      emit("log.first", speaker.first);
      emit("log.last", speaker.last);
    }
  }
  void emit(std::string_view kind, Remembered& remembered) {
    remembered.event.kind = out_.intern(kind);
    remembered.event.text = out_.intern(base::ellipsize(remembered.text, kMaxText));
    out_.events.push_back(std::move(remembered.event));
  }

  const Prefilter& prefilter_;
  std::vector<std::unique_ptr<LineParser>> parsers_;
  std::vector<std::size_t> found_;  // records by parser
  FileContext context_;
  model::Evidence& out_;
  Unwrapper unwrapper_;
  Unwrapper neighbour_;  // for lines beside the current one, whose views must stay valid
  std::map<std::int32_t, Speaker> speakers_;
  std::string without_quotations_;  // of the current line
  std::string_view block_;
  std::vector<Marked> marked_;
  std::size_t counted_ = 0;  // bytes of block_ whose newlines are in lines_before_
  std::uint64_t lines_before_ = 0;
  std::uint64_t cut_bytes_ = 0;
  std::string tail_;
  std::uint64_t tail_first_line_ = 0;
  model::Timestamp last_time_;
  bool first_block_ = true;
};

}  // namespace

const Prefilter& TextReader::prefilter() const {
  std::call_once(made_, [this] {
    std::vector<Prefilter::Literal> literals;
    const auto parsers = factory_();
    for (std::size_t i = 0; i < parsers.size() && i < 64; ++i) {
      for (const auto trigger : parsers[i]->triggers()) {
        literals.push_back({std::string(trigger), std::uint64_t{1} << i});
      }
    }
    prefilter_ = std::make_unique<Prefilter>(std::move(literals));
  });
  return *prefilter_;
}

int TextReader::probe(const model::SourceFile&, std::string_view head) const {
  // A log that was cut while it was written, or whose node died, has holes that read as NULs.
  constexpr std::size_t kHole = 64;
  std::size_t odd = 0, zeros = 0, holes = 0;
  for (const char c : head) {
    const auto byte = static_cast<unsigned char>(c);
    zeros = byte == 0 ? zeros + 1 : 0;
    if (zeros == kHole) odd -= kHole - 1, holes += kHole;
    else if (zeros > kHole) ++holes;
    if (zeros >= kHole) continue;
    odd += byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t' && byte != 0x1b;
  }
  const auto text = head.size() - holes;
  return text == 0 || odd * 20 > text ? 0 : 10;
}

void TextReader::read(ByteSource& source, FileContext context, model::Evidence& out) const {
  Scan(prefilter(), factory_(), context, out).run(source);
}

}  // namespace holter::formats::text
