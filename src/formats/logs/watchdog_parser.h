// SPDX-License-Identifier: Apache-2.0
// Lines of PyTorch's ProcessGroupNCCL watchdog and heartbeat monitor, all eras since 1.x.
//
// Timeouts and status lines become WatchdogRecords (one a line; hang/ joins them). Events:
// "watchdog.stuck" {seconds}, "watchdog.gil", "watchdog.dump", "watchdog.abort", "watchdog.exception"
// {op, seq}, "watchdog.remote_error" {rank}, "watchdog.desync" {relation, ranks, seq, op},
// "watchdog.snapshot" {seq, state, ranks, op}.
//
// "[rankN]:" is the global rank. "[Rank r]" and "PG .. Rank r" number the group; they are taken as
// the global rank only where nothing else says it and the group is the default one (or, in lines of
// 1.x, no group is named at all).
#pragma once

#include <memory>

#include "formats/text/line.h"

namespace holter::formats::logs {

std::unique_ptr<text::LineParser> make_watchdog_parser();

}  // namespace holter::formats::logs
