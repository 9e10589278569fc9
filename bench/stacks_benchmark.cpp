// SPDX-License-Identifier: Apache-2.0
// Merging the stacks of a job into one forest. One core. The stacks are those of training processes: a main thread
// that differs in its innermost frames, and helper threads that all ranks share; lines differ between ranks.
#include <benchmark/benchmark.h>

#include <array>
#include <random>

#include <fmt/format.h>

#include "hang/stack_forest.h"

namespace holter {
namespace {

constexpr int kThreads = 64;  // of a rank: main, autograd, loaders, watchdogs, OpenMP

class Stacks {
 public:
  // `shapes` different stacks for every thread.
  explicit Stacks(int shapes) {
    for (int thread = 0; thread < kThreads; ++thread) {
      titles_.push_back(thread == 0 ? "main thread" : fmt::format("thread {}", thread));
      for (int shape = 0; shape < shapes; ++shape) stacks_.push_back(make(thread, shape));
    }
    shapes_ = static_cast<std::size_t>(shapes);
  }

  void add(hang::StackForest& forest, std::int32_t rank, int thread) {
    const auto t = static_cast<std::size_t>(thread);
    auto& frames = stacks_[t * shapes_ + rng_() % shapes_];
    frames[frames.size() / 2].line = rank % 7;
    forest.add(titles_[t], frames, model::RankSet::range(rank, rank));
  }

 private:
  std::vector<model::Frame> make(int thread, int shape) {
    const auto depth = 8 + rng_() % 32;
    std::vector<model::Frame> frames;
    for (std::size_t i = 0; i < depth; ++i) {
      const auto own = i + 4 >= depth ? 1000U + static_cast<std::uint32_t>(shape) : 0U;
      frames.push_back(
          {.function = static_cast<model::StrId>(static_cast<std::uint32_t>(thread) * 64U + i + own * 4096U),
           .file = static_cast<model::StrId>(1U + i % 9U),
           .line = static_cast<std::int32_t>(i)});
    }
    return frames;
  }

  std::mt19937 rng_{7};
  std::vector<std::string> titles_;
  std::vector<std::vector<model::Frame>> stacks_;
  std::size_t shapes_ = 1;
};

void merge(benchmark::State& state) {
  const auto total = state.range(0);
  for (auto _ : state) {
    Stacks stacks(static_cast<int>(state.range(1)));
    hang::StackForest forest;
    for (std::int64_t i = 0; i < total; ++i) {
      stacks.add(forest, static_cast<std::int32_t>(i / kThreads), static_cast<int>(i % kThreads));
    }
    forest.finish();
    benchmark::DoNotOptimize(hang::find_forks(forest));
    state.counters["nodes"] = static_cast<double>(forest.nodes().size());
  }
  state.SetItemsProcessed(state.iterations() * total);
}

BENCHMARK(merge)
    ->ArgNames({"stacks", "shapes"})
    ->Args({1'000'000, 3})
    ->Args({1'000'000, 500})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace holter

BENCHMARK_MAIN();
