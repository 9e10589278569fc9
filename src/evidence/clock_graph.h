// SPDX-License-Identifier: Apache-2.0
// Offsets of clocks from events that several of them stamped.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/clock.h"

namespace holter::evidence {

// One event as one clock saw it.
struct Sighting {
  std::uint64_t event = 0;  // equal: one event
  std::uint32_t clock = 0;
  std::int64_t ns = 0;
  std::int64_t floor_ns = 0;  // how far two sightings of this kind may differ in truth
  model::SourceRef at;
};

class ClockGraph {
 public:
  // Joins the clocks that saw each event; the earliest sighting of a clock counts.
  void add(std::vector<Sighting> sightings);
  // Clock `b` shows `offset_ns` more than clock `a`, exactly.
  void tie(std::uint32_t a, std::uint32_t b, std::int64_t offset_ns, const Sighting& seen_a, const Sighting& seen_b);
  // Sets offset, error, set and example of every clock that is joined with another, along the least
  // uncertain way. In each set most clocks are right: the median offset is 0.
  void solve(std::vector<model::Clock>& clocks) const;

 private:
  struct Edge {
    std::vector<std::int64_t> differences;  // b - a
    std::int64_t floor_ns = 0;
    Sighting a, b;  // the first event
    bool exact = false;
  };
  struct Step {
    std::uint32_t to = 0;
    std::int64_t offset_ns = 0, error_ns = 0;
    std::uint32_t shared = 0;
    Sighting seen, seen_by_other;  // by `to`, by the clock it is measured against
  };
  static bool measure(const Edge& edge, Step& out);
  std::map<std::uint32_t, std::vector<Step>> steps() const;

  std::map<std::pair<std::uint32_t, std::uint32_t>, Edge> edges_;
};

}  // namespace holter::evidence
