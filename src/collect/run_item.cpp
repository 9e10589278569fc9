// SPDX-License-Identifier: Apache-2.0
#include "collect/run_item.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/strings.h"
#include "platform/run_program.h"

namespace holter::collect {

namespace {

std::string first_line(std::string_view text) {
  text = base::trim(text);
  return base::ellipsize(base::printable(text.substr(0, text.find('\n'))), 200);
}

bool is_refusal(const std::string& text) {
  for (const char* word : {"permission denied", "not permitted", "must be root", "access denied"}) {
    if (base::contains_ignore_case(text, word)) return true;
  }
  return false;
}

}  // namespace

std::string run_item(const std::vector<std::string>& argv, std::chrono::milliseconds deadline, std::size_t max_bytes,
                     Record& record) {
  using End = platform::RunResult::End;
  auto result = platform::run_program(argv, {.deadline = deadline, .max_output = max_bytes});
  record.took_ms = result.took.count();
  record.bytes = result.output.size();
  switch (result.end) {
    case End::kNotFound:
      record.status = Status::kMissing;
      record.detail = argv[0] + " is not installed";
      break;
    case End::kFailed:
      record.status = Status::kFailed;
      record.detail = argv[0] + ": " + std::strerror(result.code);
      break;
    case End::kTimedOut:
      record.status = Status::kTimeout;
      record.detail = fmt::format("{} did not end within {} ms{}", argv[0], deadline.count(),
                                  result.abandoned ? " and could not be killed" : "");
      break;
    case End::kSignalled:
      record.status = Status::kFailed;
      record.detail = fmt::format("{} ended by signal {}", argv[0], result.code);
      break;
    case End::kExited:
      if (result.code == 0) {
        record.status = result.truncated ? Status::kCut : Status::kTaken;
        if (result.truncated) record.detail = fmt::format("more than {} KB", max_bytes / 1024);
        break;
      }
      record.status = is_refusal(result.error) ? Status::kRefused : Status::kFailed;
      record.detail = fmt::format("{} ended with status {}: {}", argv[0], result.code, first_line(result.error));
  }
  return std::move(result.output);
}

}  // namespace holter::collect
