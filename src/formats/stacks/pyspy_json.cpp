// SPDX-License-Identifier: Apache-2.0
// `py-spy dump --json`: a list of {pid, thread_id, thread_name, os_thread_id, active, owns_gil,
// frames[{name, filename, module, short_filename, line, locals, ...}], process_info}. Collectors
// wrap such lists ({"rank": 3, "hostname": "gn7", "stacks": [...]}), so an object with frames is
// taken wherever it stands and inherits rank, host and pid of the objects around it.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <rapidjson/error/en.h>

#include "base/json.h"
#include "base/strings.h"
#include "formats/stacks/parsers.h"
#include "formats/stacks/stack_parser.h"

namespace holter::formats::stacks {

namespace {

constexpr std::size_t kMaxDepth = 256;

// RapidJSON's stream concept over a ByteSource.
class Stream {
 public:
  using Ch = char;
  explicit Stream(ByteSource& source) : source_(source) { fill(); }
  char Peek() const { return chunk_.empty() ? '\0' : chunk_.front(); }
  char Take() {
    if (chunk_.empty()) return '\0';
    const char c = chunk_.front();
    chunk_.remove_prefix(1);
    ++offset_;
    if (c == '\n') ++line_;
    if (chunk_.empty()) fill();
    return c;
  }
  std::size_t Tell() const { return offset_; }
  bool at_end() const { return chunk_.empty(); }
  std::uint64_t line() const { return line_; }
  // Only for parsing in place, which is not used.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  std::size_t PutEnd(char*) { return 0; }

 private:
  void fill() { chunk_ = source_.next(); }
  ByteSource& source_;
  std::string_view chunk_;
  std::size_t offset_ = 0;
  std::uint64_t line_ = 1;
};

// Builds samples from SAX events; keeps one small record for each open object.
class Handler {
 public:
  Handler(const Stream& stream, FileContext context, model::Evidence& out)
      : stream_(stream), context_(context), out_(out) {}

  std::uint64_t samples() const { return samples_; }

  bool Null() { return true; }
  bool Bool(bool b) {
    if (Object* o = object()) {
      if (o->key == "active") o->sample.active = b;
      if (o->key == "owns_gil") o->sample.owns_gil = b;
    }
    return true;
  }
  bool Int(int i) { return Int64(i); }
  bool Uint(unsigned i) { return Int64(i); }
  bool Uint64(std::uint64_t i) { return i > (std::uint64_t{1} << 62) || Int64(static_cast<std::int64_t>(i)); }
  bool Int64(std::int64_t i) {
    Object* o = object();
    if (!o) return true;
    const bool small = i >= 0 && i <= 0x7fffffff;
    if (o->key == "line" && small) o->frame.line = static_cast<std::int32_t>(i);
    else if (o->key == "pid" && small) o->sample.pid = static_cast<std::int32_t>(i);
    else if ((o->key == "rank" || o->key == "global_rank") && small)
      o->sample.rank = model::GlobalRank{static_cast<std::int32_t>(i)};
    else if (o->key == "os_thread_id" && i >= 0) o->sample.tid = i;
    else if (o->key == "thread_id" && i >= 0 && o->sample.tid < 0) o->sample.tid = i;
    else if ((o->key == "ppid" || o->key == "parent_pid") && small) o->sample.parent_pid = static_cast<std::int32_t>(i);
    return true;
  }
  bool Double(double) { return true; }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return true; }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    if (Object* o = object()) set_text(*o, {text, size});
    return true;
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (!stack_.empty()) stack_.back().key = std::string_view(text, std::min<std::size_t>(size, 40));
    return true;
  }
  bool StartObject() {
    Object next;
    next.is_object = true;
    next.sample.at = {context_.id, model::PosKind::kLine, stream_.line()};
    if (stack_.empty()) {
      next.sample.rank = context_.file->name_rank;
      next.sample.node = context_.file->name_node;
    } else {
      const auto& outer = stack_.back();
      next.sample.rank = outer.sample.rank;
      next.sample.node = outer.sample.node;
      next.sample.pid = outer.sample.pid;
      next.sample.process = outer.sample.process;
      next.is_frame = outer.is_frames;
      next.is_process = outer.key == "process_info";
    }
    return push(std::move(next));
  }
  bool EndObject(rapidjson::SizeType) {
    Object done = std::move(stack_.back());
    stack_.pop_back();
    Object* outer = object_outside();
    if (done.is_frame && outer) add_frame(*outer, done);
    else if (done.is_process && outer) add_process(*outer, done);
    else if (!done.sample.frames.empty()) finish(std::move(done.sample));
    return true;
  }
  bool StartArray() {
    Object next;
    if (!stack_.empty()) {
      next.is_frames = stack_.back().is_object && stack_.back().key == "frames";
      next.sample.rank = stack_.back().sample.rank;
      next.sample.node = stack_.back().sample.node;
      next.sample.pid = stack_.back().sample.pid;
    } else {
      next.sample.rank = context_.file->name_rank;
      next.sample.node = context_.file->name_node;
    }
    return push(std::move(next));
  }
  bool EndArray(rapidjson::SizeType) {
    stack_.pop_back();
    return true;
  }

 private:
  struct Object {
    bool is_object = false;
    bool is_frames = false;  // the array of frames
    bool is_frame = false;
    bool is_process = false;
    std::string key;
    model::StackSample sample;
    model::Frame frame;
    model::StrId module = model::StrId::kEmpty;
    model::StrId short_file = model::StrId::kEmpty;
  };

  bool push(Object next) {
    if (stack_.size() >= kMaxDepth) return false;
    stack_.push_back(std::move(next));
    return true;
  }
  Object* object() { return stack_.empty() || !stack_.back().is_object ? nullptr : &stack_.back(); }
  // The innermost open object, through the arrays around.
  Object* object_outside() {
    const auto found = std::find_if(stack_.rbegin(), stack_.rend(), [](const Object& o) { return o.is_object; });
    return found == stack_.rend() ? nullptr : &*found;
  }

  void set_text(Object& o, std::string_view text) {
    const auto id = [&] { return out_.intern(base::ellipsize(text, kMaxName)); };
    if (o.is_frame) {
      if (o.key == "name") o.frame.function = id();
      else if (o.key == "filename") o.frame.file = id();
      else if (o.key == "short_filename") o.short_file = id();
      else if (o.key == "module") o.module = id();
    } else if (o.is_process) {
      if (o.key == "command_line") o.sample.process = id();
    } else if (o.key == "thread_name") {
      o.sample.thread_name = id();
    } else if (o.key == "hostname" || o.key == "host" || o.key == "node") {
      o.sample.node = id();
    }
  }

  void add_frame(Object& thread, const Object& done) {
    if (thread.sample.frames.size() >= kMaxFrames) {
      out_.add_problem(thread.sample.at, fmt::format("a stack has more than {} frames", kMaxFrames));
      return;
    }
    auto frame = done.frame;
    if (done.short_file != model::StrId::kEmpty) frame.file = done.short_file;
    if (done.module != model::StrId::kEmpty) {
      frame.kind = model::FrameKind::kNative;
      if (frame.file == model::StrId::kEmpty) frame.file = done.module;
    }
    if (frame.line == 0) frame.line = -1;  // native frames without symbols
    if (frame.function != model::StrId::kEmpty) thread.sample.frames.push_back(frame);
  }

  void add_process(Object& thread, const Object& process) {
    thread.sample.process = process.sample.process;
    thread.sample.parent_pid = process.sample.parent_pid;
    if (thread.sample.pid < 0) thread.sample.pid = process.sample.pid;
  }

  void finish(model::StackSample sample) {
    sample.tool = out_.intern("py-spy");
    const auto name = out_.text(sample.thread_name);
    if (sample.worker = worker_of_name(context_.file->path); sample.worker >= 0)
      sample.role = model::ThreadRole::kWorker;
    else if (name == "MainThread" || (sample.pid >= 0 && sample.tid == sample.pid))
      sample.role = model::ThreadRole::kMain;
    std::reverse(sample.frames.begin(), sample.frames.end());
    out_.stacks.push_back(std::move(sample));
    ++samples_;
  }

  const Stream& stream_;
  FileContext context_;
  model::Evidence& out_;
  std::vector<Object> stack_;
  std::uint64_t samples_ = 0;
};

class PySpyJsonReader final : public Reader {
 public:
  std::string_view name() const override { return "py-spy-json"; }

  int probe(const model::SourceFile&, std::string_view head) const override {
    const auto start = head.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos || (head[start] != '[' && head[start] != '{')) return 0;
    const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
    if (!has("\"frames\"")) return 0;
    return has("\"owns_gil\"") || has("\"os_thread_id\"")   ? 92
           : has("\"thread_name\"") || has("\"thread_id\"") ? 70
                                                            : 0;
  }

  void read(ByteSource& source, FileContext context, model::Evidence& out) const override {
    Stream stream(source);
    Handler handler(stream, context, out);
    base::JsonReader reader;
    constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseStopWhenDoneFlag;
    // Several documents may follow each other (one a rank).
    while (!stream.at_end()) {
      const auto before = stream.Tell();
      const auto result = reader.Parse<kFlags>(stream, handler);
      if (result.Code() == rapidjson::kParseErrorDocumentEmpty) break;
      if (result.IsError()) {
        context.file->status = model::FileStatus::kPartial;
        const bool early = stream.at_end();
        out.add_problem({context.id, model::PosKind::kOffset, stream.Tell()},
                        early ? std::string("the input ends early")
                              : fmt::format("no JSON: {}", rapidjson::GetParseError_En(result.Code())));
        break;
      }
      if (stream.Tell() == before) break;
    }
    context.file->counts["stacks"] = handler.samples();
  }
};

}  // namespace

std::unique_ptr<Reader> make_pyspy_json_reader() { return std::make_unique<PySpyJsonReader>(); }

}  // namespace holter::formats::stacks
