// SPDX-License-Identifier: Apache-2.0
// Forms:
//   mlx5_core 0000:9a:00.0 mlx5_3: Port: 1 Link DOWN           mlx5_core 0000:9a:00.0 ens1f0np0: Link down
//   mlx5_core 0000:9a:00.0: Port module event: module 0, Cable unplugged
//   mlx5_core 0000:9a:00.0: device's health compromised - reached miss count
//   bnxt_en 0000:3b:00.0 eth0: NIC Link is Down                ib6: lost carrier / Gained carrier (networkd)
#include "base/cursor.h"
#include "formats/kernel/families.h"

namespace holter::formats::kernel {

namespace {

using base::Cursor;

constexpr std::string_view kDrivers[] = {"mlx5_core", "mlx4_core", "mlx5_ib", "bnxt_en", "bnxt_re", "ice",
                                         "irdma",     "i40e",      "ena",     "efa",     "ixgbe",   "tg3"};

std::string_view driver_of(std::string_view text) {
  for (const auto driver : kDrivers) {
    const auto at = text.find(driver);
    if (at == std::string_view::npos) continue;
    const auto after = at + driver.size();
    if ((at == 0 || text[at - 1] == ' ') && after < text.size() && (text[after] == ' ' || text[after] == ':'))
      return driver;
  }
  return {};
}

std::string_view state_of(std::string_view text) {
  struct Form {
    std::string_view part, state;
  };
  static constexpr Form kForms[] = {{"link down", "down"},
                                    {"link is down", "down"},
                                    {"link active", "up"},
                                    {"link up", "up"},
                                    {"link is up", "up"},
                                    {"lost carrier", "down"},
                                    {"gained carrier", "up"},
                                    {"cable unplugged", "down"},
                                    {"cable plugged", "up"},
                                    {"bus stuck", "error"},
                                    {"cable error", "error"},
                                    {"high temperature", "error"},
                                    {"unknown identifier", "error"},
                                    {"port inactive", "down"},
                                    {"link initialize", "training"}};
  for (const auto& f : kForms) {
    if (base::contains_ignore_case(text, f.part)) return f.state;
  }
  return {};
}

// The device word: after the PCI address of a driver line, or what stands before ": lost carrier".
std::string_view device_of(std::string_view text, std::string_view driver) {
  Cursor c(text);
  if (driver.empty()) {
    const auto colon = text.rfind(": ");
    if (colon == std::string_view::npos) return {};
    const auto before = text.substr(0, colon);
    return before.substr(before.rfind(' ') + 1);
  }
  c.skip_past(driver);
  auto pci = c.word();
  if (pci.ends_with(':')) {  // no device name: the address stands for it
    pci.remove_suffix(1);
    return pci;
  }
  auto device = c.word();
  if (device.starts_with("(") && device.find("):") != std::string_view::npos) return pci;
  if (device.ends_with(':')) device.remove_suffix(1);
  return device.empty() ? pci : device;
}

}  // namespace

bool read_link_line(const Input& in) {
  const auto driver = driver_of(in.text);
  const bool carrier = in.has("lost carrier") || in.has("Lost carrier") || in.has("ained carrier");
  if (driver.empty() && !carrier) return false;
  const auto device = device_of(in.text, driver);
  if (in.has("health") || in.has("fatal error") || in.has("assert_var") || in.has("insufficient power")) {
    auto e = in.event("kernel.nic_health");
    in.add(e, "device", device);
    in.add(e, "driver", driver);
    in.add(e, "text", in.text);
    in.emit(std::move(e));
    return true;
  }
  const auto state = state_of(in.text);
  if (state.empty()) return false;
  auto e = in.event("kernel.link");
  in.add(e, "device", device);
  in.add(e, "driver", driver);
  Cursor port(in.text);
  if (port.skip_past("Port: ") || port.skip_past("Port ") || port.skip_past("port ")) {
    if (const auto n = port.number<int>()) in.add(e, "port", std::to_string(*n));
  }
  in.add(e, "state", state);
  in.emit(std::move(e));
  return true;
}

}  // namespace holter::formats::kernel
