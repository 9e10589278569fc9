// SPDX-License-Identifier: Apache-2.0
// Stack dumps of text tools, alone in a file or in the middle of a log.
//
// One object serves one file. Blocks of different ranks may interleave: there is one state for each
// rank of the line prefix. A block ends at the first line that cannot belong to it. Bounded: kMax*.
#pragma once

#include <map>
#include <string>

#include "formats/stacks/dump_lines.h"
#include "formats/stacks/frame_lines.h"
#include "formats/text/line.h"

namespace holter::formats::stacks {

inline constexpr std::size_t kMaxFrames = 1024;  // of one stack; outer frames beyond are dropped and counted
inline constexpr std::size_t kMaxName = 300;     // bytes of a function or file name
inline constexpr std::size_t kMaxOpen = 65'536;  // ranks that interleave in one file

class StackParser final : public text::LineParser {
 public:
  std::vector<std::string_view> triggers() const override;
  bool wants_all() const override { return !open_.empty(); }
  void on_line(const text::Line& line, FileContext context, model::Evidence& out) override;
  void on_end(FileContext context, model::Evidence& out) override;

 private:
  // What is open for one rank of the line prefix.
  struct Block {
    model::StackSample sample;     // frames innermost first until it is closed (but kTraceback)
    Style style = Style::kNone;    // of the open sample; kNone: between stacks
    std::size_t frame_indent = 0;  // py-spy: deeper lines are arguments and locals
    std::size_t dropped = 0;       // frames beyond kMaxFrames
    std::size_t first_sample = 0;  // of this process in Evidence::stacks
    std::int32_t section_rank = -1;
    std::int32_t pid = -1;
    std::int32_t parent_pid = -1;
    char state = 0;
    std::string process;
    std::string note;
  };

  void start_block(const text::Line& line, FileContext context, model::Evidence& out);
  void open_thread(Block& block, const DumpLine& head, const text::Line& line, FileContext context,
                   model::Evidence& out);
  void apply_head(Block& block, const DumpLine& head, const text::Line& line, FileContext context,
                  model::Evidence& out);
  bool add_line(Block& block, const text::Line& line, model::Evidence& out);
  bool frame_without_head(Block& block, const text::Line& line, FileContext context, model::Evidence& out);
  void add_frame(Block& block, const FrameLine& frame, const text::Line& line, model::Evidence& out);
  void close_thread(Block& block, FileContext context, model::Evidence& out);

  std::map<model::GlobalRank, Block> open_;
};

// Worker index in a file name ("rank2.worker3.pyspy.txt": 3) and pid ("pid4519.gdb.txt": 4519), or -1.
std::int32_t worker_of_name(std::string_view path);
std::int32_t pid_of_name(std::string_view path);

}  // namespace holter::formats::stacks
