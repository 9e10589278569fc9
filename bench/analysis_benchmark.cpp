// SPDX-License-Identifier: Apache-2.0
// Evidence in memory -> report: matching, waiting, ranking. One core. The evidence is that of a generated job
// with one stuck rank, read once from files in the temporary folder (2.1 GB for 16,384 ranks).
#include <benchmark/benchmark.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "diagnose/diagnose.h"
#include "evidence/read.h"
#include "formats/rules/rules.h"
#include "generate/dump.h"
#include "generate/fault.h"
#include "hang/calls.h"
#include "hang/job.h"
#include "hang/match.h"
#include "hang/waits.h"

namespace holter {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(fs::temp_directory_path() / fmt::format("holter-bench-{}", ::getpid())) {
    fs::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

model::Evidence evidence_of(int ranks) {
  generate::Rng rng(7);
  auto job = generate::make_job({.ranks = ranks, .tensor = 8, .pipeline = 8, .expert = 4});
  generate::write_programs(job, 250, rng);
  if (!generate::put_fault(job, "host_stuck", rng)) std::abort();
  generate::simulate(job);
  const TemporaryFolder folder;
  for (std::int32_t r = 0; r < ranks; ++r) {
    std::ofstream(folder.path() / fmt::format("nccl_trace_rank_{}", r), std::ios::binary)
        << generate::write_dump(job, r, {.at = 10'000});
  }
  auto evidence = evidence::read({folder.path().string()}, formats::rules::builtin(), {});
  if (!evidence) std::abort();
  return std::move(*evidence);
}

void diagnose_job(benchmark::State& state) {
  const auto evidence = evidence_of(static_cast<int>(state.range(0)));
  std::size_t findings = 0;
  for (auto _ : state) findings = diagnose::diagnose(evidence, formats::rules::builtin()).findings.size();
  if (findings == 0) state.SkipWithError("the stuck rank was not found");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(evidence.entries.size()));
}

void match_and_wait(benchmark::State& state) {
  const auto evidence = evidence_of(static_cast<int>(state.range(0)));
  const hang::SemanticsTable semantics(formats::rules::builtin());
  for (auto _ : state) {
    const auto job = hang::join_job(evidence);
    const auto calls = hang::build_calls(evidence, job);
    benchmark::DoNotOptimize(hang::find_divergences(evidence, calls, semantics));
    benchmark::DoNotOptimize(hang::build_waits(evidence, calls, job, semantics));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(evidence.entries.size()));
}

BENCHMARK(match_and_wait)->ArgName("ranks")->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(diagnose_job)->ArgName("ranks")->Arg(1024)->Arg(16'384)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace holter

BENCHMARK_MAIN();
