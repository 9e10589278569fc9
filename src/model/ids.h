// SPDX-License-Identifier: Apache-2.0
// Ranks that do not mix: a GlobalRank numbers the job, a GroupRank numbers one group.
#pragma once

#include <compare>
#include <cstdint>

#include "base/string_pool.h"

namespace holter::model {

using base::StrId;

enum class GlobalRank : std::int32_t { kNone = -1 };
enum class GroupRank : std::int32_t { kNone = -1 };
// Index into Evidence::files.
enum class FileId : std::uint32_t { kNone = 0xffffffff };

constexpr std::int32_t value(GlobalRank r) { return static_cast<std::int32_t>(r); }
constexpr std::int32_t value(GroupRank r) { return static_cast<std::int32_t>(r); }
constexpr std::uint32_t value(FileId f) { return static_cast<std::uint32_t>(f); }

}  // namespace holter::model
