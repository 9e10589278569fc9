// SPDX-License-Identifier: Apache-2.0
// Where a job got to, by rank.
//
// Events: "progress.step" {step, epoch, loss, first_step, lines}: one a rank, at its last line of
// progress; "progress.epoch_end" {epoch, batches, samples}; "progress.phase" {phase, edge} with phase
// checkpoint, evaluation, compile, graph_capture, load_weights, data_prep, barrier, serving, exit and
// edge start, end or at. Loss values that are no number are events of the signature matcher.
#pragma once

#include <memory>

#include "formats/text/line.h"

namespace holter::formats::logs {

std::unique_ptr<text::LineParser> make_progress_parser();

}  // namespace holter::formats::logs
