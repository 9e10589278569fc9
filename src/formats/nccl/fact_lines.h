// SPDX-License-Identifier: Apache-2.0
// Lines that say how a process is set up: version, network, NICs, plugins, environment.
// Keys of model::NcclProcessFact: version, cuda_driver, network, network_failed, ifname, oob, hca,
// socket_device, net_plugin, gdr, nvls, connected, env.<NAME>.
#pragma once

#include "formats/nccl/state.h"

namespace holter::formats::nccl {

bool read_fact_line(const Input& in, State& state);

}  // namespace holter::formats::nccl
