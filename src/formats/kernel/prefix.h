// SPDX-License-Identifier: Apache-2.0
// What stands before the message of a kernel log line, in every common form:
//   [ 2217.510034] text                         dmesg           6,3964,206764307,-;text     /dev/kmsg
//   [Mon May 18 07:31:02 2026] text             dmesg -T        <6>[   12.3] text           console
//   kern  :warn  : 2025-01-21T04:41:44,283302+00:00 text        dmesg -x --time-format=iso
//   Aug 17 00:00:24 gn7 kernel: [ 12.3] text    syslog          2025-01-21T04:41:44+0000 gn7 kernel: text
//   gn7: kern: warning: [2025-01-21T04:41:44Z]: text            Talos
#pragma once

#include <string_view>

#include "model/event.h"

namespace holter::formats::kernel {

struct Prefix {
  model::Timestamp time;
  std::int64_t boot_ns = -1;  // since boot, also where `time` is a date
  std::string_view host;
  std::string_view message;  // begins inside the given text
};

Prefix split_prefix(std::string_view text);

}  // namespace holter::formats::kernel
