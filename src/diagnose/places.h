// SPDX-License-Identifier: Apache-2.0
// Words for ranks, calls and code places in titles.
#pragma once

#include <string>

#include "diagnose/diagnoser.h"
#include "hang/calls.h"

namespace holter::diagnose {

// "rank 3 (gn7)", "ranks 3,5-7".
std::string who(const Context& context, const model::RankSet& ranks);
// "all_reduce #903 of default_pg".
std::string call_name(const Context& context, const hang::CallState& calls, const hang::Call& call);
// The innermost frame of the user's own code, "save_best (train.py:214)"; "" when there is none.
std::string user_place(const Context& context, model::FrameListId frames);
// All frames of a call, innermost first, joined with " < "; bounded.
std::string frames_text(const Context& context, model::FrameListId frames);
// A citation of a call: the record and its main fields.
model::Citation cite_call(const Context& context, const hang::CallState& calls, const hang::Call& call,
                          std::string_view why);
// One culprit per rank, with node where known.
std::vector<model::Culprit> rank_culprits(const Context& context, const model::RankSet& ranks);
// True for frames of PyTorch, NCCL wrappers and installed packages.
bool is_library_frame(std::string_view file);

}  // namespace holter::diagnose
