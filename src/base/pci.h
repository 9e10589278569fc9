// SPDX-License-Identifier: Apache-2.0
// PCI addresses as tools print them, brought to one form.
#pragma once

#include <string>
#include <string_view>

namespace holter::base {

// "0000:C4:00.0", "00000000:97:00.0", "b2:00.0", "0000:c4:00" -> "0000:c4:00" (domain, bus, device;
// GPUs have one function). Empty when `text` is no PCI address.
std::string canonical_pci(std::string_view text);

}  // namespace holter::base
