// SPDX-License-Identifier: Apache-2.0
// The built-in rules with a folder of the user's laid over them.
#pragma once

#include <string>

#include "base/result.h"
#include "model/rules.h"

namespace holter::app {

// "" gives the built-in rules. Files of the folder (*.toml, *.csv) replace the built-in file of the
// same path below it and add to them otherwise.
base::Result<model::Rules> load_rules(const std::string& folder);

}  // namespace holter::app
