// SPDX-License-Identifier: Apache-2.0
// Bytes of a dump to the model, end to end: reading, decoding, interning. One core.
#include <benchmark/benchmark.h>

#include "formats/flight_recorder/reader.h"
#include "generate/dump.h"

namespace holter {
namespace {

// 64 dumps of one job, as many entries each as PyTorch keeps by default.
std::vector<std::string> make_dumps(bool json, int frames) {
  generate::Rng rng(7);
  auto job = generate::make_job({.ranks = 64, .tensor = 4, .pipeline = 4, .expert = 2});
  generate::write_programs(job, 2000, rng);
  generate::simulate(job);
  std::vector<std::string> dumps;
  for (std::int32_t r = 0; r < 64; ++r) {
    dumps.push_back(
        generate::write_dump(job, r, {.json = json, .timing = true, .entries = 2000, .frames = frames, .at = 1e9}));
  }
  return dumps;
}

template <typename Reader>
void read_dumps(benchmark::State& state, bool json) {
  const auto dumps = make_dumps(json, static_cast<int>(state.range(0)));
  std::int64_t bytes = 0, entries = 0;
  const Reader reader;
  for (auto _ : state) {
    model::Evidence ev;
    for (std::size_t i = 0; i < dumps.size(); ++i) {
      ev.files.push_back({});
      formats::MemorySource source(dumps[i], 256 * 1024);
      reader.read(source, {static_cast<model::FileId>(i), &ev.files.back()}, ev);
      bytes += static_cast<std::int64_t>(dumps[i].size());
    }
    entries += static_cast<std::int64_t>(ev.entries.size());
    benchmark::DoNotOptimize(ev.entries.data());
  }
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(entries);
  state.counters["bytes/entry"] = static_cast<double>(bytes) / static_cast<double>(entries);
}

void pickle(benchmark::State& state) { read_dumps<formats::flight_recorder::PickleReader>(state, false); }
void json(benchmark::State& state) { read_dumps<formats::flight_recorder::JsonReader>(state, true); }
BENCHMARK(pickle)->ArgName("frames")->Arg(0)->Arg(20)->Unit(benchmark::kMillisecond);
BENCHMARK(json)->ArgName("frames")->Arg(0)->Arg(20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace holter

BENCHMARK_MAIN();
