// SPDX-License-Identifier: Apache-2.0
#include "formats/nccl/fact_lines.h"

#include "base/cursor.h"
#include "base/strings.h"

namespace holter::formats::nccl {

namespace {

using base::Cursor;

// "[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>" -> one fact a device
void read_devices(const Input& in, State& state, std::string_view list, std::string_view key) {
  Cursor c(list);
  if (Cursor oob(list); oob.skip_past("OOB ")) state.fact(in, "oob", oob.word());
  while (c.skip_past("[")) {
    if (!c.number<int>() || !c.eat("]")) continue;
    state.fact(in, key, c.until(" ;[{}"));
  }
}

bool read_network(const Input& in, State& state) {
  const auto m = in.head.message;
  Cursor c(m);
  if (c.eat("Using network ")) {
    state.fact(in, "network", c.rest());
  } else if (c.eat("NET/IB : Using ") || c.eat("NET/IB: Using ")) {
    read_devices(in, state, c.rest(), "hca");
  } else if (c.eat("NET/Socket : Using ") || c.eat("NET/Socket: Using ")) {
    read_devices(in, state, c.rest(), "socket_device");
  } else if (c.eat("NET/IB : No device found") || c.eat("NET/IB: No device found")) {
    state.fact(in, "network_failed", "IB: no device found");
  } else if (c.eat("Failed to initialize NET plugin ")) {
    state.fact(in, "network_failed", c.rest());
  } else if (m.starts_with("NET/Plugin")) {
    state.fact(in, "net_plugin", m);
  } else if (m.find("GPU Direct RDMA ") != std::string_view::npos) {
    state.fact(in, "gdr", m);
  } else if (m.starts_with("NVLS multicast support")) {
    state.fact(in, "nvls", m);
  } else {
    return false;
  }
  return true;
}

// "Bootstrap: Using eth0:10.0.0.1<0>", "Bootstrap : Using [0]eth0:10.0.0.1<0>"
bool read_bootstrap(const Input& in, State& state) {
  Cursor c(in.head.message);
  if (!c.eat("Bootstrap")) return false;
  c.blanks();
  if (!c.eat(": Using ")) return false;
  if (c.eat("[")) {
    c.until("]");
    c.eat("]");
  }
  state.fact(in, "ifname", c.word());
  return true;
}

// "NCCL_PROTO set by environment to Simple", "NCCL_SOCKET_IFNAME set to lo"
bool read_environment(const Input& in, State& state) {
  Cursor c(in.head.message);
  const auto name = c.until(" ");
  if (!name.starts_with("NCCL_") && !name.starts_with("RCCL_")) return false;
  if (!c.eat(" set by environment to ") && !c.eat(" set to ")) return false;
  auto value = base::trim(c.rest());
  if (value.ends_with('.')) value.remove_suffix(1);  // numbers carry a full stop
  std::string key = "env.";
  key += name;
  state.fact(in, key, value);
  return true;
}

}  // namespace

bool read_fact_line(const Input& in, State& state) {
  Cursor c(in.head.message);
  if (c.eat("NCCL version ")) {
    state.fact(in, "version", c.word());
    return true;
  }
  if (c.eat("cudaDriverVersion ")) {
    state.fact(in, "cuda_driver", c.word());
    return true;
  }
  return read_bootstrap(in, state) || read_environment(in, state) || read_network(in, state);
}

}  // namespace holter::formats::nccl
