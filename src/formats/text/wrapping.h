// SPDX-License-Identifier: Apache-2.0
// Takes the wrapping off log lines: who printed this, where and when.
//
// Known wrappings, which may nest in any order: ANSI colour codes; container lines ("2026-..Z stdout F
// msg", {"log": ..}); JSON loggers; torchrun "[rank3]:" and "[default3]:"; mpirun "[1,3]<stdout>:";
// `srun -l` "3: "; pdsh and launchers "gn7: "; kubectl --prefix "[pod/x/y] "; Ray and vLLM
// "(Actor pid=9133, ip=10.44.9.27) " and "[repeated 6x across cluster]"; syslog and journal
// "May 18 07:31:02 host kernel: "; dmesg "[  12.345]" and "[Mon May 18 ...]"; dates of any logger.
//
// Two of them are ambiguous on a single line ("3: x", "gn7: x"); they are taken off only in files
// where most lines have them, which learn() decides from the head of the file.
#pragma once

#include <string>
#include <string_view>

#include "formats/text/line.h"

namespace holter::formats::text {

class Unwrapper {
 public:
  Unwrapper(const model::SourceFile& file, model::Evidence& out);

  // Looks at the first lines of the file, once.
  void learn(std::string_view head);
  // Fills body, time, rank, node, pid and repeats of a line whose raw and number are set. Views of
  // the line stay valid until the next call.
  void unwrap(Line& line);

  // Most lines name a rank: every line matters for what each rank said last.
  bool many_ranks() const { return many_ranks_; }
  int year() const { return year_; }

 private:
  bool peel(std::string_view& body, Line& line);
  bool peel_bracket(std::string_view& body, Line& line);
  bool peel_paren(std::string_view& body, Line& line);
  bool peel_time(std::string_view& body, Line& line);
  bool peel_number(std::string_view& body, Line& line);
  bool peel_host(std::string_view& body, Line& line);
  bool peel_syslog_host(std::string_view& body, Line& line);
  bool peel_json(std::string_view& body, Line& line);
  void peel_repeats(std::string_view& body, Line& line);
  void set_time(Line& line, const model::Timestamp& time);

  model::Evidence& out_;
  model::GlobalRank file_rank_;
  model::StrId file_node_;
  int year_ = 0;               // of the last full date; 0 unknown
  bool task_numbers_ = false;  // lines start with "3: "
  bool tasks_are_ranks_ = true;
  bool host_names_ = false;  // lines start with "gn7: "
  bool many_ranks_ = false;
  std::string plain_;    // the line without ANSI codes
  std::string message_;  // the message of a JSON line
};

}  // namespace holter::formats::text
