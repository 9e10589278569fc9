// SPDX-License-Identifier: Apache-2.0
// One Xid or SXid line of the NVIDIA driver, of all branches from 450 to 595:
//   NVRM: Xid (PCI:0000:c4:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
//   NVRM: Xid (PCI:0000:c4:00 GPU-I:05 GPU-CI:00): 43, pid=7, name=python3, Ch 00000008
//   NVRM: Xid (0000:03:00): 14                                    before 3xx; also without a comma
//   NVRM: Xid (PCI:0000:c4:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 04 (0x025001c6 0x00000000 ...)
//   nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up (First)
// A number is never dropped because it is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holter::formats::kernel {

struct XidLine {
  int number = -1;
  std::string pci;             // "0000:c4:00"
  std::string_view mig;        // "GPU-I:05 GPU-CI:00"
  std::string_view pid, name;  // empty when absent or unknown
  std::string_view text;       // after process
  int caused_by = -1;
  std::string_view fatality;  // "Fatal", "Nonfatal", "Non-fatal", "Correctable"
  std::string_view unit;      // NVLink unit; "GPC 2, TPC 4, SM 1"; "FBHUB"
  int link = -1;
  std::string_view registers;  // hexadecimal words as printed
};

std::optional<XidLine> parse_xid(std::string_view message);

struct SxidLine : XidLine {
  std::string_view device;  // "nvidia-nvswitch3"
  bool data = false;        // a continuation that only carries registers
};
std::optional<SxidLine> parse_sxid(std::string_view message);

// "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)" (Xid 154)
struct RecoveryAction {
  int code = -1;
  std::string_view name;
};
std::optional<RecoveryAction> parse_recovery_action(std::string_view text);

// The 32-bit words of XidLine::registers.
std::vector<std::uint32_t> register_words(std::string_view registers);

}  // namespace holter::formats::kernel
