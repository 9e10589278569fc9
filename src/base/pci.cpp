// SPDX-License-Identifier: Apache-2.0
#include "base/pci.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace holter::base {

std::string canonical_pci(std::string_view text) {
  text = trim(text);
  if (const auto dot = text.find('.'); dot != std::string_view::npos) {
    if (text.size() - dot != 2) return {};
    text = text.substr(0, dot);
  }
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return {};
  const auto bus = parts[parts.size() - 2], device = parts.back();
  if (bus.size() != 2 || device.size() != 2) return {};
  const auto domain = parts.size() == 3 ? to_int<std::uint32_t>(parts[0], 16) : 0U;
  const auto b = to_int<std::uint32_t>(bus, 16), d = to_int<std::uint32_t>(device, 16);
  if (!domain || !b || !d || (parts.size() == 3 && parts[0].size() < 4)) return {};
  return fmt::format("{:04x}:{:02x}:{:02x}", *domain, *b, *d);
}

}  // namespace holter::base
