// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/names.h"

#include <algorithm>
#include <cctype>

#include "base/strings.h"

namespace holter::formats::facts {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

}  // namespace

bool is_host_word(std::string_view word) {
  if (word.size() < 2 || word.size() > 253 || !is_alpha(word[0]) || word.back() == '.' || word.back() == '-')
    return false;
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return is_digit(c) || is_alpha(c) || c == '-' || c == '.'; });
}

bool is_ipv4(std::string_view word) {
  const auto parts = base::split(word, '.');
  if (parts.size() != 4) return false;
  return std::all_of(parts.begin(), parts.end(), [](std::string_view p) {
    const auto n = base::to_int<int>(p);
    return n && *n >= 0 && *n <= 255;
  });
}

bool is_host_name(std::string_view word) {
  static constexpr std::string_view kNoHosts[] = {
      "rank", "gpu", "GPU", "step", "cuda", "run", "layer", "epoch", "cpu",  "CPU", "v", "python", "fp", "bf",   "int",
      "sha",  "md",  "gen", "Xid",  "mlx",  "eth", "ib",    "bond",  "nvme", "O",   "L", "p",      "P",  "stage"};
  if (is_ipv4(word)) return true;
  if (!is_host_word(word) || !std::any_of(word.begin(), word.end(), is_digit)) return false;
  for (const auto prefix : kNoHosts) {
    // "rank3", "fp16" and "v2" name other things; "ib06" is a host, "ib0" a device.
    const auto rest = word.substr(std::min(prefix.size(), word.size()));
    const bool number = !rest.empty() && std::all_of(rest.begin(), rest.end(), is_digit);
    if (word.starts_with(prefix) && number && !(prefix == "ib" && rest.size() > 1) &&
        !(prefix == "p" && rest.size() > 2)) {
      return false;
    }
  }
  return true;
}

std::optional<std::string> pci_address(std::string_view text) {
  text = base::trim(text);
  if (text.starts_with("PCI:") || text.starts_with("PCI ")) text.remove_prefix(4);
  const auto dot = text.find('.');
  if (dot != std::string_view::npos && text.size() - dot > 2) return std::nullopt;
  const auto parts = base::split(text.substr(0, dot), ':');
  if (parts.size() < 2 || parts.size() > 3 || (parts.size() == 2 && dot == std::string_view::npos)) return std::nullopt;
  const auto bus = parts[parts.size() - 2], device = parts[parts.size() - 1];
  const auto domain = parts.size() == 3 ? parts[0] : std::string_view("0000");
  if (!is_hex(bus) || !is_hex(device) || !is_hex(domain) || bus.size() != 2 || device.size() != 2 ||
      domain.size() < 4) {
    return std::nullopt;
  }
  return base::lower(domain.substr(domain.size() - 4)) + ":" + base::lower(bus) + ":" + base::lower(device);
}

std::optional<HostPrefix> host_prefix(std::string_view line) {
  line = base::trim(line);
  if (line.starts_with('[')) {
    const auto close = line.find("] ");
    if (close == std::string_view::npos || !is_host_name(line.substr(1, close - 1))) return std::nullopt;
    return HostPrefix{line.substr(1, close - 1), {}, base::trim(line.substr(close + 2))};
  }
  const auto colon = line.find(": ");
  if (colon == std::string_view::npos || colon > 80) return std::nullopt;
  HostPrefix out{line.substr(0, colon), {}, base::trim(line.substr(colon + 2))};
  if (const auto open = out.host.find(" ("); open != std::string_view::npos && out.host.back() == ')') {
    out.context = out.host.substr(open + 2, out.host.size() - open - 3);
    out.host = out.host.substr(0, open);
  } else if (const auto on = out.host.rfind(" on "); on != std::string_view::npos) {
    out.context = out.host.substr(0, on);
    out.host = out.host.substr(on + 4);
  } else if (const auto comma = out.host.find(", "); comma != std::string_view::npos) {
    out.context = out.host.substr(comma + 2);
    out.host = out.host.substr(0, comma);
  }
  if (!is_host_word(out.host) && !is_ipv4(out.host)) return std::nullopt;
  return out;
}

std::optional<std::string_view> host_header(std::string_view line) {
  line = base::trim(line);
  // A shell prompt: "[user@host dir]# command", "user@host:dir$ command".
  if (const auto at = line.find('@'); at != std::string_view::npos && at < 40) {
    const auto tail = line.substr(at + 1);
    const auto end = tail.find_first_of(" :]");
    if (end != std::string_view::npos && tail.find_first_of("#$") != std::string_view::npos &&
        is_host_word(tail.substr(0, end))) {
      return tail.substr(0, end);
    }
    return std::nullopt;
  }
  const bool decorated =
      line.starts_with("==") || line.starts_with("--") || line.starts_with('#') || line.starts_with('[');
  const bool colon = line.ends_with(':');
  auto word = line;
  while (!word.empty() && !std::isalnum(static_cast<unsigned char>(word.front()))) word.remove_prefix(1);
  while (!word.empty() && !std::isalnum(static_cast<unsigned char>(word.back()))) word.remove_suffix(1);
  for (const std::string_view label : {"host:", "Host:", "node:", "hostname:", "host ", "node ", "on "}) {
    if (!word.starts_with(label)) continue;
    const auto name = base::trim(word.substr(label.size()));
    if (is_host_name(name)) return name;
  }
  if ((decorated || colon) && is_host_name(word)) return word;
  return std::nullopt;
}

}  // namespace holter::formats::facts
