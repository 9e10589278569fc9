// SPDX-License-Identifier: Apache-2.0
// The diagnosers over facts, tables and experiments; run together on one EvidenceView.
#pragma once

#include "diagnose/evidence_view.h"

namespace holter::diagnose {

void diagnose_facts(const Context& context, Output& out);  // all below

void diagnose_pcie_acs(const EvidenceView& view, Output& out);
void diagnose_limits(const EvidenceView& view, Output& out);  // memlock, kernel regression, shm, disk
void diagnose_platform_config(const EvidenceView& view,
                              Output& out);  // fabric manager, driver skew, cgroup, ...
void diagnose_host_differences(const EvidenceView& view, Output& out);
void diagnose_gpu_oom(const EvidenceView& view, Output& out);
void diagnose_memory_growth(const EvidenceView& view, Output& out);
void diagnose_pauses(const EvidenceView& view, Output& out);  // garbage collection
void diagnose_stragglers(const EvidenceView& view, Output& out);
void diagnose_device_speed(const EvidenceView& view, Output& out);  // PCIe link, clocks, throttling
void diagnose_nan_location(const EvidenceView& view, Output& out);
void diagnose_layer_overflow(const EvidenceView& view, Output& out);
void diagnose_numeric_experiments(const EvidenceView& view, Output& out);
void diagnose_rollout(const EvidenceView& view, Output& out);  // trainer against engine
void diagnose_serving(const EvidenceView& view, Output& out);
void diagnose_startup(const EvidenceView& view, Output& out);

}  // namespace holter::diagnose
