// SPDX-License-Identifier: Apache-2.0
// A whole JSON document in memory, with the allocator of json.h.
#pragma once

#include <rapidjson/document.h>

#include "base/json.h"

namespace holter::base {

using JsonDocument =
    rapidjson::GenericDocument<rapidjson::UTF8<>, rapidjson::MemoryPoolAllocator<JsonAllocator>, JsonAllocator>;
using JsonValue = JsonDocument::ValueType;

}  // namespace holter::base
