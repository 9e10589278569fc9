// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/ras_reader.h"

#include "base/strings.h"
#include "formats/ras/line_source.h"
#include "formats/ras/ras_json.h"
#include "formats/ras/ras_text.h"

namespace holter::formats::ras {

namespace {

constexpr std::size_t kMaxReplies = 100'000;

class Replies {
 public:
  Replies(LineSource& in, FileContext context, model::Evidence& out) : in_(in), context_(context), out_(out) {}

  void read() {
    while (true) {
      if (in_.peek() == '{') {
        json_reply();
        continue;
      }
      const auto number = in_.line();
      const auto line = in_.rest_of_line();
      if (!line) break;
      if (TextReply::starts(*line)) begin_text(number);
      if (text_) text_->on_line(*line, number);
    }
    end_text();
    if (context_.file) {
      context_.file->counts["replies"] += replies_;
      context_.file->lines = in_.line() - 1;
      if (is_partial_) context_.file->status = model::FileStatus::kPartial;
    }
  }

 private:
  void begin_text(std::uint64_t number) {
    end_text();
    text_.emplace(out_);
    start_ = number;
  }

  void end_text() {
    if (!text_) return;
    if (!text_->whole()) problem(start_, "the RAS reply ends early");
    add(text_->finish(), start_);
    text_.reset();
  }

  void json_reply() {
    end_text();
    const auto start = in_.line();
    model::RasReply reply;
    bool is_reply = false;
    const auto error = read_json_reply(in_, out_, reply, is_reply);
    if (!error.empty()) problem(start, error);
    if (is_reply) add(std::move(reply), start);
    (void)in_.rest_of_line();
  }

  void add(model::RasReply reply, std::uint64_t number) {
    if (++replies_ > kMaxReplies) return problem(number, "too many RAS replies in one file");
    reply.at = {context_.id, model::PosKind::kLine, number};
    if (context_.file && context_.file->version.empty()) {
      context_.file->version = std::string(out_.text(reply.nccl_version));
    }
    out_.ras.push_back(std::move(reply));
  }

  void problem(std::uint64_t number, std::string what) {
    out_.add_problem({context_.id, model::PosKind::kLine, number}, std::move(what));
    is_partial_ = true;
  }

  LineSource& in_;
  FileContext context_;
  model::Evidence& out_;
  std::optional<TextReply> text_;
  std::uint64_t start_ = 0;
  std::uint64_t replies_ = 0;
  bool is_partial_ = false;
};

}  // namespace

int RasReader::probe(const model::SourceFile&, std::string_view head) const {
  const auto has = [&](std::string_view part) { return head.find(part) != std::string_view::npos; };
  if (has("\"communicators\"") && (has("\"missing_ranks_count\"") || has("\"communicators_count\""))) return 95;
  // The words of a text reply at the start of lines; a log that quotes one has other lines before.
  const auto version = head.find("NCCL version ");
  const auto summary = head.find("\nJob summary\n");
  if (version == std::string_view::npos) return 0;
  const bool first = version == 0 || head[version - 1] == '\n';
  if (!first || head.substr(0, version).find("NCCL INFO") != std::string_view::npos) return 0;
  if (summary != std::string_view::npos && summary > version) return version < 4096 ? 95 : 60;
  return head.starts_with("SERVER PROTOCOL ") ? 90 : 0;
}

void RasReader::read(ByteSource& source, FileContext context, model::Evidence& out) const {
  LineSource in(source);
  Replies(in, context, out).read();
}

}  // namespace holter::formats::ras
