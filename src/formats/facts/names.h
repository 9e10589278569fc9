// SPDX-License-Identifier: Apache-2.0
// What host names, addresses and PCI addresses look like in pasted text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holter::formats::facts {

// Letters, digits, dots and dashes, starting with a letter ("gn7", "node-a.lab").
bool is_host_word(std::string_view word);
// As above and with a digit in it, or an IPv4 address: safe enough to take without other support.
bool is_host_name(std::string_view word);
bool is_ipv4(std::string_view word);
// "0000:c4:00.0", "00000000:C4:00.0", "c4:00.0", "PCI:0000:c4:00" -> "0000:c4:00"; else nothing.
std::optional<std::string> pci_address(std::string_view text);

struct HostPrefix {
  std::string_view host;
  std::string_view context;  // "inside srun step", "login shell"
  std::string_view rest;
};
// "gn7: rest", "gn7 (inside srun step): rest", "login shell on gn7: rest", "[gn7] rest".
std::optional<HostPrefix> host_prefix(std::string_view line);
// A line that names the host of the lines after it: "=== gn7 ===", "# gn7", "gn7:", "host: gn7",
// "[root@gn7 ~]# nvidia-smi".
std::optional<std::string_view> host_header(std::string_view line);

}  // namespace holter::formats::facts
