// SPDX-License-Identifier: Apache-2.0
// Parses the files of rules/. The built-in ones are embedded in the program (rules/CMakeLists.txt);
// a folder given by the user replaces files of the same name and adds others.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/rules.h"

namespace holter::formats::rules {

// Path below rules/ ("signatures/torch.toml") -> content.
using FileMap = std::map<std::string, std::string, std::less<>>;

// The files that were in rules/ when the program was built.
FileMap builtin_files();

// Parses them all. An unknown cause id, a bad pattern or a duplicate id is an error that names file
// and id.
base::Result<model::Rules> parse(const FileMap& files);

// parse(builtin_files()), done once. Aborts when the built-in files do not parse (a test covers it).
const model::Rules& builtin();

// RFC 4180: quoted fields, doubled quotes, embedded newlines.
base::Result<model::RuleTable> parse_csv(std::string_view text);

}  // namespace holter::formats::rules
