// SPDX-License-Identifier: Apache-2.0
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

void diagnose_facts(const Context& context, Output& out) {
  const EvidenceView view(context);
  static constexpr ViewDiagnoser kAll[] = {
      diagnose_device_speed, diagnose_gpu_oom,       diagnose_host_differences, diagnose_layer_overflow,
      diagnose_limits,       diagnose_memory_growth, diagnose_nan_location,     diagnose_numeric_experiments,
      diagnose_pauses,       diagnose_pcie_acs,      diagnose_platform_config,  diagnose_rollout,
      diagnose_serving,      diagnose_startup,       diagnose_stragglers,
  };
  for (const auto run : kAll) run(view, out);
}

}  // namespace holter::diagnose
