// SPDX-License-Identifier: Apache-2.0
// A report that may leave the house: names of hosts, jobs, users and files, addresses, identifiers
// and secrets become placeholders, the same one wherever the same name stands ("NODE-2"). Ranks,
// times, operations, error texts and the names of public libraries stay: they are the diagnosis.
//
// What a name is, is known from the fields that hold names (nodes, jobs, files) and from the shape of
// the text (paths, addresses, key=value). A host that only occurs inside free text, without a domain,
// cannot be told from a word and stays: read the result before you send it.
#pragma once

#include "model/report.h"

namespace holter::report {

void scrub(model::Report& report);

}  // namespace holter::report
