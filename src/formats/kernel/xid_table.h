// SPDX-License-Identifier: Apache-2.0
// What is known of a fault number: lookups over the tables rules/xid/{xid,sxid,nvlink5}.csv.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/report.h"
#include "model/rules.h"

namespace holter::formats::kernel {

struct XidInfo {
  int number = -1;
  std::string mnemonic;
  std::string unit;      // "GSP", "NVLINK", "ECC/FB", ...
  std::string category;  // hardware, fabric, firmware, driver, application, meta, legacy, ...
  std::string severity;  // info, app, degraded, gpu_fatal, node_fatal, decode, meta, unknown
  std::string meaning;
  std::string vendor_action;  // the vendor's immediate bucket: RESET_GPU, RESTART_APP, ...
  std::string action;         // what this table proposes
};
std::optional<XidInfo> xid_info(const model::Rules& rules, int number);

struct SxidInfo {
  int number = -1;
  std::string name;
  std::string block;
  std::string guide_class;  // always_fatal, fatal_link_or_partition, non_fatal; empty: not classed
};
std::optional<SxidInfo> sxid_info(const model::Rules& rules, int number);

// A row of the NVLink5 decode that fits the registers of Xid 144 to 150. The bit layout changed with
// driver R575: `layout` 1 is before, 2 from then on.
struct Nvlink5Match {
  int layout = 0;
  std::string unit;
  int event_code = -1;        // intrInfo bits 25:20
  std::string resolution;     // RESET_GPU, IGNORE, XID_154_EVAL
  std::string investigatory;  // INVESTIGATE_LINK_SI, SYMPATHETIC_REPORT_SOLO, ...
  std::string severity;
  std::string remote_impact;
};
// Matches of both layouts when the driver branch is not known (0). No match: an empty list.
std::vector<Nvlink5Match> decode_nvlink5(const model::Rules& rules, int xid, std::uint32_t intr_info,
                                         std::uint32_t error_status, int driver_branch);

// Severity word of the tables -> model. "decode", "meta" and "unknown" are application: they never
// condemn a device by themselves.
model::Severity severity_of(std::string_view word);

}  // namespace holter::formats::kernel
