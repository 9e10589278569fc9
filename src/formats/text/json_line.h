// SPDX-License-Identifier: Apache-2.0
// One JSON object on a line, as Docker, Fluent Bit, journald -o json and structured loggers write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holter::formats::text {

struct JsonLine {
  bool is_log = false;  // an object with a message under a known key
  std::string message;  // "log", "message", "msg", "MESSAGE", "textPayload"; else "exc_info" and the like appended
  std::string time;     // as printed; seconds since 1970 are kept as digits
  std::string host;
  std::string level;
  std::int64_t rank = -1;
  std::int64_t pid = -1;
};

// Empty (is_log false) when the text is not one complete JSON object of bounded depth.
JsonLine parse_json_line(std::string_view text);

}  // namespace holter::formats::text
