// SPDX-License-Identifier: Apache-2.0
#include "formats/facts/phrases.h"

#include "base/strings.h"

namespace holter::formats::facts {

const std::vector<std::string_view>& phrases() {
  static const std::vector<std::string_view> all{
      // limits and devices
      "Cannot allocate memory",
      "No space left on device",
      "Disk quota exceeded",
      "failed to extend /dev/shm",
      "out of shared memory",
      "insufficient shared memory",
      "Duplicate GPU detected",
      "invalid device ordinal",
      // drivers and fabric
      "Driver/library version mismatch",
      "API mismatch: the client",
      "Failed to initialize NVML",
      "CUDA driver version is insufficient",
      "driver on your system is too old",
      "provided PTX was compiled",
      "system not yet initialized",
      "cudaErrorSystemNotReady",
      "fabric manager",
      "fabricmanager",
      "no CUDA-capable device",
      "daemon-reload",
      "unattended-upgrade",
      "ERR_NVGPUCTRPERM",
      "profiling module",
      "XidCriticalError",
      "marked unhealthy",
      "marking device",
      // numbers
      "NaN check failed",
      "NaN detected",
      "found NaN",
      "first NaN",
      "kv cache scal",
      "scaling factor",
      "k_scale",
      "kv_cache_dtype",
      // serving
      "No available shared memory broadcast block",
      "Application startup complete",
      "Loading weights took",
      "torch.compile takes",
      "Graph capturing finished",
      "Uvicorn running on",
      "fired up and ready to roll",
      "preempted by",
      "EngineDeadError",
      "update_weights",
      "Readiness probe failed",
      "startup probe failed",
  };
  return all;
}

std::string_view phrase_in(std::string_view line) {
  for (const auto phrase : phrases()) {
    if (base::contains_ignore_case(line, phrase)) return phrase;
  }
  return {};
}

}  // namespace holter::formats::facts
