// SPDX-License-Identifier: Apache-2.0
// Lines with a known error text -> events; kind is the id of the signature, fields its named groups.
//
// Of one kind, rank and file the first 16 lines are events of their own; later ones are counted in
// the `repeats` of the last.
#pragma once

#include <memory>

#include "formats/logs/signature_set.h"
#include "formats/text/line.h"

namespace holter::formats::logs {

std::unique_ptr<text::LineParser> make_signature_parser(std::shared_ptr<const SignatureSet> set);

}  // namespace holter::formats::logs
