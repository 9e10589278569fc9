// SPDX-License-Identifier: Apache-2.0
// Devices that run the collectives of two communicators in opposite orders.
#pragma once

#include "diagnose/diagnoser.h"
#include "hang/device_order.h"

namespace holter::diagnose {

model::Finding device_order_finding(const Context& context, const hang::CallState& calls,
                                    const hang::DeviceCrossing& crossing);

}  // namespace holter::diagnose
