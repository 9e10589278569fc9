// SPDX-License-Identifier: Apache-2.0
// The kernel's log from any source (dmesg, journal, syslog, /dev/kmsg, pstore): NVIDIA driver faults,
// kills, lockups, bus errors, ports, storage. Event kinds are listed in families.h.
#pragma once

#include <memory>

#include "formats/text/line.h"

namespace holter::formats::kernel {

std::unique_ptr<text::LineParser> make_parser();

}  // namespace holter::formats::kernel
