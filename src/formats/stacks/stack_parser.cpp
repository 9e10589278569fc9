// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/stack_parser.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "formats/stacks/parsers.h"
#include "formats/stacks/scan.h"

namespace holter::formats::stacks {

namespace {

// The number after the last `word` in the file's own name, separators between them allowed.
std::int32_t number_after(std::string_view path, std::string_view word) {
  const auto slash = path.rfind('/');
  const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const auto at = name.rfind(word);
  if (at == std::string_view::npos) return -1;
  Scan scan(name.substr(at + word.size()));
  scan.skip_any("._-");
  std::int32_t number = -1;
  return scan.number(number) ? number : -1;
}

// The symbol or address of a lock in gdb's arguments: "futex=0x7f.. <__exit_funcs_lock>".
std::string lock_of(std::string_view arguments) {
  for (const std::string_view name : {"futex=", "mutex=", "lock="}) {
    const auto at = arguments.find(name);
    if (at == std::string_view::npos) continue;
    const auto value = arguments.substr(at + name.size());
    const auto end = std::min(value.find(','), value.size());
    const auto open = value.find('<');
    if (open < end) return std::string(value.substr(open + 1, value.find('>') - open - 1));
    return std::string(value.substr(0, end));
  }
  return {};
}

bool is_worker_process(std::string_view process) {
  return process.find("DataLoader worker") != std::string_view::npos ||
         process.find("pt_data_worker") != std::string_view::npos;
}

model::StrId bounded(std::string_view text, model::Evidence& out) {
  return out.intern(text.size() > kMaxName ? base::ellipsize(text, kMaxName) : text);
}

void append_note(model::StackSample& sample, std::string_view text, model::Evidence& out) {
  const auto old = out.text(sample.note);
  if (old.size() > 1000) return;
  sample.note = out.intern(old.empty() ? base::ellipsize(text, kMaxName)
                                       : fmt::format("{}; {}", old, base::ellipsize(text, kMaxName)));
}

}  // namespace

std::int32_t worker_of_name(std::string_view path) { return number_after(path, "worker"); }
std::int32_t pid_of_name(std::string_view path) { return number_after(path, "pid"); }

std::vector<std::string_view> StackParser::triggers() const {
  return {"Thread ", "Process ", "most recent call", "Fatal Python error:", "Timeout (", "Attaching to pr", "#0 ",
          "#1 ", "[<", "task:", "/stack", "State:", "ranks", "rank ", "rank:", "rank=", "rank_",
          // Process ids and ranks, by their first digit.
          "TID 1", "TID 2", "TID 3", "TID 4", "TID 5", "TID 6", "TID 7", "TID 8", "TID 9", "PID 1", "PID 2", "PID 3",
          "PID 4", "PID 5", "PID 6", "PID 7", "PID 8", "PID 9", "rank0", "rank1", "rank2", "rank3", "rank4", "rank5",
          "rank6", "rank7", "rank8", "rank9"};
}

void StackParser::on_line(const text::Line& line, FileContext context, model::Evidence& out) {
  const auto known = open_.find(line.rank);
  if (known == open_.end()) {
    start_block(line, context, out);
    return;
  }
  Block& block = known->second;
  if (block.style != Style::kNone && add_line(block, line, out)) return;
  if (const auto head = dump_line(line.body)) {
    if (head->head != Head::kNote) close_thread(block, context, out);
    apply_head(block, *head, line, context, out);
  } else if (base::trim(line.body).empty()) {
    close_thread(block, context, out);
  } else if (frame_without_head(block, line, context, out)) {
    return;
  } else if (indent_of(line.body) == 0) {
    close_thread(block, context, out);
    open_.erase(known);
  } else if (!block.sample.ranks.empty()) {
    append_note(block.sample, base::trim(line.body), out);  // "last enqueued: ..." below the frames of a group
  } else {
    close_thread(block, context, out);
  }
}

void StackParser::start_block(const text::Line& line, FileContext context, model::Evidence& out) {
  if (open_.size() >= kMaxOpen) return;
  const auto head = dump_line(line.body);
  if (head && head->head == Head::kDetail) return;
  Block block;
  block.first_sample = out.stacks.size();
  if (head) apply_head(block, *head, line, context, out);
  else if (!frame_without_head(block, line, context, out)) return;
  open_.emplace(line.rank, std::move(block));
}

void StackParser::apply_head(Block& block, const DumpLine& head, const text::Line& line, FileContext context,
                             model::Evidence& out) {
  switch (head.head) {
    case Head::kSection:
      block = {};
      block.first_sample = out.stacks.size();
      block.section_rank = head.rank;
      break;
    case Head::kProcess:
      block.pid = head.pid;
      block.parent_pid = head.parent_pid;
      block.process = base::ellipsize(head.text, kMaxName);
      block.first_sample = out.stacks.size();
      block.state = 0;
      break;
    case Head::kParent: block.parent_pid = head.pid; break;
    case Head::kNote:
      if (head.state != 0) block.state = block.sample.state = head.state;
      else block.note = base::ellipsize(head.text, kMaxName);
      break;
    case Head::kThread: open_thread(block, head, line, context, out); break;
    case Head::kDetail: break;
  }
}

void StackParser::open_thread(Block& block, const DumpLine& head, const text::Line& line, FileContext context,
                              model::Evidence& out) {
  auto& s = block.sample;
  s = {};
  block.style = head.style;
  block.frame_indent = 0;
  block.dropped = 0;
  s.at = text::at(line, context);
  s.time = line.time;
  s.node = line.node;
  s.rank = line.rank;
  if (s.rank == model::GlobalRank::kNone && block.section_rank >= 0) s.rank = model::GlobalRank{block.section_rank};
  if (context.file && head.ranks.empty()) {
    if (s.rank == model::GlobalRank::kNone) s.rank = context.file->name_rank;
    if (s.node == model::StrId::kEmpty) s.node = context.file->name_node;
    s.worker = worker_of_name(context.file->path);
    if (block.pid < 0) block.pid = pid_of_name(context.file->path);
  }
  s.ranks = head.ranks;
  s.pid = head.pid >= 0 ? head.pid : block.pid >= 0 ? block.pid : line.pid;
  s.tid = head.tid;
  s.parent_pid = block.parent_pid;
  s.tool = out.intern(head.tool);
  s.process = out.intern(block.process);
  s.thread_name = bounded(head.text, out);
  s.active = head.active;
  s.owns_gil = head.owns_gil;
  s.state = head.state != 0 ? head.state : block.state;
  if (!block.note.empty()) append_note(s, block.note, out);
  block.note.clear();
  if (s.worker >= 0 || is_worker_process(block.process)) {
    s.role = model::ThreadRole::kWorker;
    if (s.worker < 0) s.worker = number_after(block.process, "worker ");
  } else if (head.text == "MainThread" || (s.pid >= 0 && s.tid == s.pid)) {
    s.role = model::ThreadRole::kMain;
  }
  // gdb lists threads from the last to the first, whose id is that of the process.
  if (head.thread_number == 1 && s.pid < 0) {
    s.pid = static_cast<std::int32_t>(head.tid);
    for (std::size_t i = block.first_sample; i < out.stacks.size(); ++i) {
      auto& earlier = out.stacks[i];
      if (earlier.pid < 0 && earlier.at.file == s.at.file && earlier.rank == s.rank) earlier.pid = s.pid;
    }
    if (s.role == model::ThreadRole::kUnknown) s.role = model::ThreadRole::kMain;
  }
}

// A line below the head of an open stack; false when it does not belong to it.
bool StackParser::add_line(Block& block, const text::Line& line, model::Evidence& out) {
  const auto indent = indent_of(line.body);
  switch (block.style) {
    case Style::kPySpy: {
      if (indent == 0) return false;
      if (block.frame_indent > 0 && indent > block.frame_indent) return true;  // arguments, locals
      const auto frame = pyspy_frame(line.body);
      if (!frame) return false;
      block.frame_indent = indent;
      add_frame(block, *frame, line, out);
      return true;
    }
    case Style::kFaulthandler:
    case Style::kTraceback: {
      const auto text = base::trim(line.body);
      if (text == "<no Python frame>" || text == "...") return true;
      if (const auto frame = traceback_frame(line.body)) {
        add_frame(block, *frame, line, out);
        return true;
      }
      return block.style == Style::kTraceback && indent >= 4;  // source text of a frame
    }
    case Style::kNative: {
      if (const auto frame = native_frame(line.body)) {
        if (frame->number == 0 && !block.sample.frames.empty()) return false;  // the next stack, without head
        if (frame->number == 0) append_note(block.sample, lock_of(frame->arguments), out);
        add_frame(block, *frame, line, out);
        return true;
      }
      const auto place = block.sample.frames.empty() ? std::nullopt : native_place(line.body);
      if (place) {
        auto& last = block.sample.frames.back();
        last.file = bounded(place->file, out);
        if (place->line >= 0) last.line = place->line;
        return true;
      }
      return indent > 0;  // locals of "bt full", wrapped arguments
    }
    case Style::kKernel: {
      const auto text = base::trim(line.body);
      if (text == "Call Trace:" || text == "<TASK>" || text == "</TASK>") return true;
      const auto frame = kernel_frame(line.body);
      if (frame) add_frame(block, *frame, line, out);
      return frame.has_value();
    }
    case Style::kNone: break;
  }
  return false;
}

// Frames that start a stack by themselves: "#0 ..." and "[<0>] ...".
bool StackParser::frame_without_head(Block& block, const text::Line& line, FileContext context, model::Evidence& out) {
  DumpLine head;
  std::optional<FrameLine> frame = native_frame(line.body);
  if (frame && frame->number == 0) {
    head = {.head = Head::kThread, .style = Style::kNative, .tool = "gdb"};
  } else {
    frame = base::trim(line.body).starts_with("[<") ? kernel_frame(line.body) : std::nullopt;
    if (!frame) return false;
    head = {.head = Head::kThread, .style = Style::kKernel, .tool = "proc"};
  }
  close_thread(block, context, out);
  open_thread(block, head, line, context, out);
  return add_line(block, line, out);
}

void StackParser::add_frame(Block& block, const FrameLine& frame, const text::Line& line, model::Evidence& out) {
  auto& s = block.sample;
  s.line_count = static_cast<std::uint32_t>(line.number - s.at.pos + 1);
  if (!frame.comment.empty()) append_note(s, frame.comment, out);
  if (s.frames.size() >= kMaxFrames) {
    ++block.dropped;
    return;
  }
  s.frames.push_back({bounded(frame.function, out), bounded(frame.file, out), frame.line, frame.kind});
}

void StackParser::close_thread(Block& block, FileContext context, model::Evidence& out) {
  if (block.style == Style::kNone) return;
  if (block.dropped > 0) {
    out.add_problem(block.sample.at, fmt::format("a stack has more than {} frames; the rest is left out", kMaxFrames));
  }
  if (!block.sample.frames.empty()) {
    if (block.style != Style::kTraceback) std::reverse(block.sample.frames.begin(), block.sample.frames.end());
    out.stacks.push_back(std::move(block.sample));
    if (context.file) ++context.file->counts["stacks"];
  }
  block.sample = {};
  block.style = Style::kNone;
}

void StackParser::on_end(FileContext context, model::Evidence& out) {
  for (auto& [rank, block] : open_) close_thread(block, context, out);
  open_.clear();
}

std::unique_ptr<text::LineParser> make_stack_parser() { return std::make_unique<StackParser>(); }

}  // namespace holter::formats::stacks
