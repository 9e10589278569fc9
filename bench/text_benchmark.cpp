// SPDX-License-Identifier: Apache-2.0
// Bytes of a log to the model: triggers, wrappings, times, fields, signatures. One core, text written by us.
// bench/text_scan.py compares the whole program with ripgrep and grep.
#include <benchmark/benchmark.h>

#include <random>

#include <fmt/format.h>

#include "evidence/readers.h"
#include "formats/rules/rules.h"

namespace holter {
namespace {

constexpr std::size_t kBytes = std::size_t{32} << 20;

enum Log { kPlain, kSteps, kFailures };

std::string line(std::mt19937& rng, int i, int log) {
  const auto at =
      fmt::format("2025-11-03 {:02}:{:02}:{:02},{:03}", i / 360000 % 24, i / 6000 % 60, i / 100 % 60, i % 1000);
  if (log == kSteps && i % 2 == 0) {
    return fmt::format(" [{}] iteration {:8}/ 5000000 | elapsed time per iteration (ms): {:.1f} | lm loss: {:.6E} |\n",
                       at, i / 2, 4000.0 + static_cast<double>(rng() % 900),
                       2.0 + static_cast<double>(rng() % 1000) / 1e3);
  }
  if (log == kFailures && i % 1000 == 0) {
    return fmt::format("[rank{}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
                       rng() % 1024);
  }
  return fmt::format("[rank{}]: {} - INFO - trainer.data - shard {}: {} samples buffered, prefetch queue {}/64\n",
                     rng() % 1024, at, rng() % 4096, rng() % 9000, rng() % 64);
}

std::string log_text(int log) {
  std::mt19937 rng(7);
  std::string text;
  for (int i = 0; text.size() < kBytes; ++i) text += line(rng, i, log);
  return text;
}

void scan(benchmark::State& state) {
  const auto text = log_text(static_cast<int>(state.range(0)));
  const auto readers = evidence::make_readers(formats::rules::builtin());
  std::size_t events = 0;
  for (auto _ : state) {
    model::Evidence out;
    out.files.push_back({.path = "train.log"});
    formats::MemorySource source(text, 256 * 1024);
    readers.back()->read(source, {static_cast<model::FileId>(0), &out.files.back()}, out);
    events = out.events.size();
  }
  state.counters["events"] = static_cast<double>(events);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

BENCHMARK(scan)->ArgName("log")->Arg(kPlain)->Arg(kSteps)->Arg(kFailures)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace holter

BENCHMARK_MAIN();
