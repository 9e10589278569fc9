// SPDX-License-Identifier: Apache-2.0
// Forms (src/init.cc of each version):
//   2.4-2.15  comm 0x7f rank 0 nranks 8 cudaDev 0 busId 7000 - Init COMPLETE
//   2.18      comm 0x7f rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 7000 commId 0x9a - Init START
//   2.21      ncclCommInitRank comm 0x7f rank ... - Init COMPLETE
//   2.21      ncclCommSplit comm 0x7f rank ... parent 0x7e color 1 key 0 commId 0x9b - Init START
//   2.26      ncclCommSplit comm 0x7f rank ... parent 0x7e splitCount 1 color 1 key 0 - Init START
//   2.29      [Rank 3] ncclCommInitRank comm 0x7f ... - Init START
//   2.20      comm 0x7f rank 0 nRanks 8 nNodes 4 localRanks 2 localRank 0 MNNVL 0
#include "formats/nccl/comm_lines.h"

#include <fmt/format.h>

#include "base/cursor.h"

namespace holter::formats::nccl {

namespace {

using base::Cursor;
using model::InitStage;

// The number behind " key ", or -1.
std::int32_t int_of(std::string_view text, std::string_view key) {
  Cursor c(text);
  while (c.skip_past(key)) {
    if (!c.eat(" ")) continue;
    return c.number<std::int32_t>().value_or(-1);
  }
  return -1;
}

void raise(model::NcclComm& comm, InitStage stage) {
  if (comm.stage < stage) comm.stage = stage;
}

// A split prints no commId since 2.26: parent, count and colour name it as well.
model::StrId split_id(const Input& in, State& state, std::string_view text) {
  const auto parent_pointer = base::between(text, " parent ", " ");
  if (parent_pointer.empty()) return model::StrId::kEmpty;
  const auto parent = state.comm(in, parent_pointer).comm_id;
  if (parent == model::StrId::kEmpty) return model::StrId::kEmpty;
  return in.out.intern(
      fmt::format("{}/split {} color {}", in.out.text(parent), int_of(text, "splitCount"), int_of(text, "color")));
}

void read_identity(const Input& in, State& state, std::string_view pointer, std::string_view text) {
  auto id = model::StrId::kEmpty;
  if (const auto printed = base::between(text, " commId ", " "); !printed.empty()) id = in.out.intern(printed);
  else id = split_id(in, state, text);
  auto& comm = state.comm(in, pointer);  // last: it is the current one now
  comm.at = in.at();
  if (id != model::StrId::kEmpty) comm.comm_id = id;
  const auto set = [&](std::int32_t& field, std::string_view key) {
    if (const auto v = int_of(text, key); v >= 0) field = v;
  };
  set(comm.rank, " rank");
  set(comm.nranks, " nranks");
  set(comm.nranks, " nRanks");
  set(comm.cuda_dev, "cudaDev");
  set(comm.nvml_dev, "nvmlDev");
  if (const auto bus = base::between(text, " busId ", " "); !bus.empty()) comm.bus_id = in.out.intern(bus);
}

void read_stage(const Input& in, State& state, model::NcclComm& comm, std::string_view text) {
  if (text.ends_with("Init START")) {
    // A pointer may be reused after the communicator that had it was destroyed.
    comm.stage = InitStage::kInitStart;
    comm.start = in.line.time;
  } else if (text.find("Init COMPLETE") != std::string_view::npos) {
    comm.stage = InitStage::kComplete;
    comm.complete = in.line.time;
  } else if (text.find("Destroy COMPLETE") != std::string_view::npos) {
    comm.stage = InitStage::kDestroyed;
  } else if (text.find("Abort ") != std::string_view::npos || text.find("Revoke ") != std::string_view::npos) {
    if (comm.stage != InitStage::kAborted)
      state.fact(in, "abort_from", comm.stage == InitStage::kComplete ? "complete" : "init");
    comm.stage = InitStage::kAborted;
  }
}

// "AllReduce: opCount 1f sendbuff 0x.. count 4 ... comm 0x7f [nranks=8] stream 0x..": hexadecimal.
bool read_operation(const Input& in, State& state) {
  Cursor c(in.head.message);
  const auto op = c.until(":");
  if (op.empty() || op.find(' ') != std::string_view::npos || !c.eat(": opCount ")) return false;
  const auto count = c.number<std::int64_t>(16);
  const auto pointer = base::between(in.head.message, " comm ", " ");
  if (!count || pointer.empty()) return false;
  auto& comm = state.comm(in, pointer);
  comm.last_op = in.out.intern(op);
  comm.op_count = *count;
  return true;
}

// Lines of a communicator in progress that say how far it came.
bool read_progress(const Input& in, State& state) {
  const auto m = in.head.message;
  const bool bootstrapped = m.starts_with("Bootstrap timings");
  const bool connected =
      m.starts_with("Connected all") || m.starts_with("Connected NVLS") || m.starts_with("Connected binomial");
  if (!bootstrapped && !connected) return false;
  if (auto* comm = state.current(in)) raise(*comm, bootstrapped ? InitStage::kTopology : InitStage::kConnect);
  if (connected) state.fact(in, "connected", m.substr(0, m.find(',')));
  return true;
}

}  // namespace

bool read_comm_line(const Input& in, State& state) {
  if (read_progress(in, state) || read_operation(in, state)) return true;
  const auto m = in.head.message;
  const auto at = m.find("comm 0x");
  if (at == std::string_view::npos || at > 80 || m.find(" rank ") == std::string_view::npos) return false;
  const auto text = m.substr(at);
  Cursor c(text);
  c.eat("comm ");
  const auto pointer = c.until(" ,");
  read_identity(in, state, pointer, text);
  auto& comm = state.comm(in, pointer);
  if (const auto nodes = int_of(text, "nNodes"); nodes >= 0) {
    comm.nodes = nodes;
    comm.local_ranks = int_of(text, "localRanks");
    raise(comm, InitStage::kTopology);
    return true;
  }
  read_stage(in, state, comm, text);
  return true;
}

}  // namespace holter::formats::nccl
