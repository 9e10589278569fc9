// SPDX-License-Identifier: Apache-2.0
// holter-generate: evidence of a synthetic job, with the truth beside it.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "dump.h"
#include "fault.h"

namespace holter::generate {

namespace fs = std::filesystem;

namespace {

struct Options {
  std::string out, kind = "healthy", format = "pickle";
  Shape shape;
  int entries = 200, frames = 0;
  bool timing = false, only_active = false, logs = false;
  double missing = 0, truncated = 0, after = -1, end = -1;
  std::uint64_t seed = 1;
};

constexpr const char* kUsage =
    "holter-generate --out DIR [--kind KIND] [--ranks N] [--tensor T] [--pipeline P] [--expert E]\n"
    "  [--format pickle|json] [--entries K] [--frames F] [--timing] [--only-active] [--logs]\n"
    "  [--missing PERCENT] [--truncated PERCENT] [--after SECONDS] [--end UNIX_SECONDS] [--seed S]\n"
    "--after: seconds from the last progress to the dump (default: the timeout, 600; healthy: mid-step)\n"
    "--end: when the dumps are written\n"
    "KIND:";

[[noreturn]] void usage() {
  std::cerr << kUsage;
  for (const auto& name : faults()) std::cerr << ' ' << name;
  std::cerr << '\n';
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options o;
  const std::map<std::string, bool*> flags{
      {"--timing", &o.timing}, {"--only-active", &o.only_active}, {"--logs", &o.logs}};
  const std::map<std::string, int*> ints{{"--ranks", &o.shape.ranks},       {"--tensor", &o.shape.tensor},
                                         {"--pipeline", &o.shape.pipeline}, {"--expert", &o.shape.expert},
                                         {"--entries", &o.entries},         {"--frames", &o.frames}};
  const std::map<std::string, double*> reals{
      {"--missing", &o.missing}, {"--truncated", &o.truncated}, {"--after", &o.after}, {"--end", &o.end}};
  const std::map<std::string, std::string*> texts{{"--out", &o.out}, {"--kind", &o.kind}, {"--format", &o.format}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (const auto flag = flags.find(name); flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    if (++i >= argc) usage();
    const std::string value = argv[i];
    if (const auto it = ints.find(name); it != ints.end()) *it->second = std::atoi(value.c_str());
    else if (const auto real = reals.find(name); real != reals.end()) *real->second = std::atof(value.c_str());
    else if (const auto text = texts.find(name); text != texts.end()) *text->second = value;
    else if (name == "--seed") o.seed = std::strtoull(value.c_str(), nullptr, 10);
    else usage();
  }
  const auto& s = o.shape;
  const bool good = !o.out.empty() && s.tensor > 0 && s.pipeline > 0 && s.expert > 0 && s.ranks >= 2 &&
                    s.ranks % (s.tensor * s.pipeline) == 0 && s.data() % s.expert == 0 && s.pipeline < 255;
  if (!good || std::find(faults().begin(), faults().end(), o.kind) == faults().end()) usage();
  return o;
}

double last_progress(const Job& job) {
  double last = 0;
  for (const auto& program : job.programs) {
    for (const auto& op : program) {
      for (const double t : {op.enqueued, op.started, op.completed}) {
        if (t != kNever) last = std::max(last, t);
      }
    }
  }
  return last;
}

void write_file(const fs::path& path, std::string_view data, std::int64_t at_ns) {
  std::ofstream(path, std::ios::binary) << data;
  const timespec t{at_ns / 1'000'000'000, at_ns % 1'000'000'000};
  const timespec times[2]{t, t};
  utimensat(AT_FDCWD, path.c_str(), times, 0);
}

std::string list(const std::vector<std::int32_t>& ranks) { return fmt::format("[{}]", fmt::join(ranks, ", ")); }

// The last words of a process that died.
std::string crash_log(std::int32_t rank) {
  return fmt::format(
      "[rank{0}]: Traceback (most recent call last):\n"
      "[rank{0}]:   File \"/job/train.py\", line 118, in main\n"
      "[rank{0}]:     loss = step(batch)\n"
      "[rank{0}]:   File \"/job/data/reader.py\", line 61, in decode\n"
      "[rank{0}]:     raise ValueError(f\"bad record length {{n}}\")\n"
      "[rank{0}]: ValueError: bad record length -17\n",
      rank);
}

class Run {
 public:
  explicit Run(Options o) : o_(std::move(o)), rng_(o_.seed * 0x9e3779b97f4a7c15ULL + 1) {}

  int write() {
    auto job = make_job(o_.shape);
    write_programs(job, o_.entries + o_.entries / 4, rng_);
    const auto truth = put_fault(job, o_.kind, rng_);
    if (!truth) {
      std::cerr << "this job has no place for " << o_.kind << '\n';
      return 3;
    }
    simulate(job);
    fs::create_directories(o_.out);
    const double end = last_progress(job);
    const bool healthy = o_.kind == "healthy";
    const double after = o_.after >= 0 ? o_.after : 600;
    const double moment = healthy ? end * uniform(rng_, 0.7, 0.95) : end + after;
    write_dumps(job, *truth, moment, healthy ? 0.02 : 1.5);
    write_truth(*truth, healthy ? 0 : after);
    return 0;
  }

 private:
  // Dumps of one job are not taken at one instant: `skew` seconds apart at most.
  void write_dumps(const Job& job, const Truth& truth, double moment, double skew) {
    DumpOptions d{.json = o_.format == "json",
                  .only_active = o_.only_active,
                  .timing = o_.timing,
                  .entries = o_.entries,
                  .frames = o_.frames};
    if (o_.end >= 0) d.epoch_ns = static_cast<std::int64_t>((o_.end - moment) * 1e9);
    for (std::int32_t r = 0; r < o_.shape.ranks; ++r) {
      d.at = moment + uniform(rng_, 0, skew);
      const bool crashed = std::find(truth.crashed.begin(), truth.crashed.end(), r) != truth.crashed.end();
      const std::int64_t at_ns = d.epoch_ns + static_cast<std::int64_t>(d.at * 1e9);
      if (crashed) {
        write_file(fs::path(o_.out) / fmt::format("rank{}.log", r), crash_log(r), at_ns - 600'000'000'000);
        missing_.push_back(r);
        continue;
      }
      if (uniform(rng_, 0, 100) < o_.missing) {
        missing_.push_back(r);
        continue;
      }
      auto data = write_dump(job, r, d);
      if (uniform(rng_, 0, 100) < o_.truncated) {
        data.resize(static_cast<std::size_t>(static_cast<double>(data.size()) * uniform(rng_, 0.3, 0.95)));
        truncated_.push_back(r);
      }
      write_file(fs::path(o_.out) / fmt::format("nccl_trace_rank_{}{}", r, d.json ? ".json" : ""), data, at_ns);
      if (o_.logs) write_log(job, r, d);
    }
  }

  // What the launcher keeps of every rank: a line a step.
  void write_log(const Job& job, std::int32_t rank, const DumpOptions& d) {
    std::string text;
    std::int32_t step = -1;
    for (const auto& op : job.programs[static_cast<std::size_t>(rank)]) {
      if (op.enqueued > d.at || op.step == step) continue;
      step = op.step;
      text += fmt::format("[rank{}] step {} started\n", rank, step);
    }
    write_file(fs::path(o_.out) / fmt::format("rank{}.log", rank), text,
               d.epoch_ns + static_cast<std::int64_t>(d.at * 1e9));
  }

  void write_truth(const Truth& truth, double after) {
    // Beside the folder, so that a diagnosis of the folder cannot read it.
    std::ofstream(fs::path(o_.out).lexically_normal().string() + ".truth.json") << fmt::format(
        "{{\"kind\": \"{}\", \"cause\": \"{}\", \"class\": \"{}\", \"culprits\": {}, \"ranks\": {}, \"missing\": {}, "
        "\"truncated\": {}, \"after_s\": {}, \"seed\": {}}}\n",
        truth.kind, truth.cause, truth.where, list(truth.culprits), o_.shape.ranks, list(missing_), list(truncated_),
        after, o_.seed);
  }

  Options o_;
  Rng rng_;
  std::vector<std::int32_t> missing_, truncated_;
};

}  // namespace
}  // namespace holter::generate

int main(int argc, char** argv) { return holter::generate::Run(holter::generate::parse(argc, argv)).write(); }
