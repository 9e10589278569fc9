// SPDX-License-Identifier: Apache-2.0
#include "formats/logs/traceback_parser.h"

#include <map>
#include <string>

#include "base/strings.h"
#include "formats/logs/pattern.h"

namespace holter::formats::logs {

namespace {

using text::Line;

constexpr std::string_view kHead = "Traceback (most recent call last):";
constexpr std::size_t kMaxOpen = 256;      // tracebacks open at once
constexpr std::uint32_t kMaxLines = 2000;  // of one traceback
constexpr std::uint32_t kMaxGap = 400;     // lines of others in between before it is given up
constexpr std::uint32_t kChainGap = 6;     // lines between an exception and the word that continues it

struct FrameText {
  std::string file, line, function;
};

// One traceback chain of one rank and process.
struct Open {
  model::Event event;
  std::string exception, message;
  std::string first_exception, first_message;
  FrameText inner, user;
  std::size_t frames = 0;
  std::uint32_t lines = 0;
  std::uint64_t last_line = 0;
  bool in_frames = true;  // else: the exception was read, the chain may go on
};

bool is_installed(std::string_view file) {
  for (const std::string_view part : {"site-packages/", "dist-packages/", "/lib/python", "<frozen", "<string>",
                                      "torch/distributed/", "/torch/nn/", "importlib/"}) {
    if (file.find(part) != std::string_view::npos) return true;
  }
  return false;
}

// "torch.OutOfMemoryError: CUDA out of memory", "KeyboardInterrupt".
bool is_exception_line(std::string_view line) {
  std::size_t n = 0;
  bool alpha = false;
  while (n < line.size() && (std::isalnum(static_cast<unsigned char>(line[n])) || line[n] == '_' || line[n] == '.')) {
    alpha = alpha || std::isalpha(static_cast<unsigned char>(line[n]));
    ++n;
  }
  return alpha && n < 200 && (n == line.size() || line.substr(n).starts_with(": ") || line.substr(n) == ":");
}

class TracebackParser final : public text::LineParser {
 public:
  std::vector<std::string_view> triggers() const override { return {"Traceback (most recent"}; }
  bool wants_all() const override { return !open_.empty(); }
  std::string_view format() const override { return "training-log"; }

  void on_line(const Line& line, FileContext context, model::Evidence& out) override {
    close_old(line.number, out);
    const auto key = std::pair(value(line.rank), line.pid);
    auto body = without_logger(line.body);
    auto found = open_.find(key);
    if (const auto at = body.find(kHead); at != std::string_view::npos) {
      if (found != open_.end() && !found->second.in_frames && found->second.lines > 0 && chained_) {
        found->second.in_frames = true;
      } else {
        if (found != open_.end()) emit(found, out);
        if (open_.size() >= kMaxOpen) return;
        found = open_.emplace(key, Open{}).first;
        found->second.event = text::event("traceback", line, context, out);
      }
      found->second.last_line = line.number;
      return;
    }
    if (found != open_.end()) feed(found, body, line, out);
  }
  void on_end(FileContext, model::Evidence& out) override {
    while (!open_.empty()) emit(open_.begin(), out);
  }

 private:
  using Map = std::map<std::pair<std::int32_t, std::int32_t>, Open>;

  // vLLM and others put the logger's head before every line of a traceback.
  std::string_view without_logger(std::string_view body) {
    if (logger_.match(body)) return logger_[1];
    return body;
  }

  void feed(Map::iterator at, std::string_view body, const Line& line, model::Evidence& out) {
    auto& open = at->second;
    open.event.line_count = static_cast<std::uint32_t>(line.number - open.event.at.pos + 1);
    if (!open.in_frames) {
      if (base::trim(body).empty()) return;
      chained_ = body.find("During handling of the above") != std::string_view::npos ||
                 body.find("The above exception was the direct") != std::string_view::npos;
      if (chained_) open.last_line = line.number;
      return;
    }
    open.last_line = line.number;
    if (++open.lines > kMaxLines) return emit(at, out);
    if (frame_.match(body)) {
      ++open.frames;
      open.inner = {std::string(frame_[0]), std::string(frame_[1]), std::string(frame_[2])};
      if (!is_installed(open.inner.file)) open.user = open.inner;
      return;
    }
    if (body.empty() || body[0] == ' ' || body[0] == '\t') return;  // source text, carets, locals
    if (!is_exception_line(body)) {
      if (open.frames == 0) open_.erase(at);
      return;
    }
    const auto colon = body.find(": ");
    if (open.first_exception.empty() && !open.exception.empty()) {
      open.first_exception = open.exception;
      open.first_message = open.message;
    }
    open.exception = body.substr(0, colon);
    open.message = colon == std::string_view::npos ? "" : std::string(base::trim(body.substr(colon + 2)));
    open.event.text = out.intern(base::ellipsize(base::trim(body), 400));
    open.event.at.pos = line.number;  // the line that names the exception is what a person wants to see
    open.event.line_count = 1;
    open.in_frames = false;
    chained_ = false;
  }

  void emit(Map::iterator at, model::Evidence& out) {
    auto& open = at->second;
    if (!open.exception.empty() || open.frames > 0) {
      auto& e = open.event;
      const auto& frame = open.user.file.empty() ? open.inner : open.user;
      add_field(e, out, "exception", open.exception);
      add_field(e, out, "message", open.message);
      add_field(e, out, "cause_exception", open.first_exception);
      add_field(e, out, "cause_message", open.first_message);
      add_field(e, out, "file", frame.file);
      add_field(e, out, "line", frame.line);
      add_field(e, out, "function", frame.function);
      add_field(e, out, "inner_file", open.inner.file);
      add_field(e, out, "inner_function", open.inner.function);
      add_field(e, out, "frames", std::to_string(open.frames));
      out.events.push_back(std::move(e));
    }
    open_.erase(at);
  }

  void close_old(std::uint64_t now, model::Evidence& out) {
    for (auto it = open_.begin(); it != open_.end();) {
      const auto next = std::next(it);
      const auto limit = it->second.in_frames ? kMaxGap : kChainGap;
      if (now > it->second.last_line + limit) emit(it, out);
      it = next;
    }
  }

  Map open_;
  bool chained_ = false;
  Pattern frame_{R"re(^[\s|]*File "([^"]{1,400})", line (\d{1,9})(?:, in (.{1,200}))?)re"};
  Pattern logger_{
      R"(^(?:\[?(ERROR|WARNING|INFO|CRITICAL|FATAL)\]?:? )?(?:\d\d-\d\d|\d{4}-\d\d-\d\d) \d\d:\d\d:\d\d\S* \[[^\]]*\] ?(.*))"};
};

}  // namespace

std::unique_ptr<text::LineParser> make_traceback_parser() { return std::make_unique<TracebackParser>(); }

}  // namespace holter::formats::logs
