// SPDX-License-Identifier: Apache-2.0
// A synthetic job: its groups, and what every rank issues.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace holter::generate {

using Rng = std::mt19937_64;

enum class OpKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kBarrier,
  kSend,
  kRecv,
};

constexpr double kNever = std::numeric_limits<double>::infinity();

// One call of one rank. Times are seconds since the start of the job.
struct Op {
  std::uint32_t group = 0;
  std::uint32_t elements = 0;
  std::int32_t peer = -1;  // rank in the group, of a send or receive
  OpKind kind = OpKind::kAllReduce;
  bool blocking = true;       // later work of this rank's device needs the result
  bool sync = false;          // the host waits for all blocking work before it issues this
  bool stuck_inside = false;  // fault: the device never finishes it although the peers do
  bool lost = false;          // fault: transport; nobody finishes it
  std::int32_t step = 0;
  double compute = 0;  // device time between the operation it depends on and this one
  double enqueued = kNever, started = kNever, completed = kNever;
  bool is_p2p() const { return kind == OpKind::kSend || kind == OpKind::kRecv; }
};

struct Group {
  std::string name;  // global counter, as torch names groups
  std::string desc;
  std::vector<std::int32_t> ranks;
};

struct Shape {
  int ranks = 16, tensor = 2, pipeline = 2, expert = 2;
  int data() const { return ranks / (tensor * pipeline); }
};

struct Job {
  Shape shape;
  std::vector<Group> groups;                          // group 0 is the world
  std::vector<std::vector<std::uint32_t>> groups_of;  // by rank
  std::vector<std::vector<Op>> programs;              // by rank
  std::vector<std::int64_t> stop_before;              // by rank: the host never issues this operation; -1 none
  std::uint32_t group_of(std::int32_t rank, const std::string& desc) const;
  std::int32_t index_in(std::uint32_t group, std::int32_t rank) const;
};

// Groups in the order and with the names of a Megatron-like start-up.
Job make_job(const Shape& shape);
// Fills the programs with about `operations` calls a rank.
void write_programs(Job& job, int operations, Rng& rng);
// Plays the job until nothing can move any more.
void simulate(Job& job);

inline std::size_t pick(Rng& rng, std::size_t count) { return static_cast<std::size_t>(rng() % count); }
inline double uniform(Rng& rng, double low, double high) {
  return low + (high - low) * static_cast<double>(rng() >> 11) * 0x1.0p-53;
}

}  // namespace holter::generate
