// SPDX-License-Identifier: Apache-2.0
#include "evidence/read.h"

#include <chrono>
#include <map>
#include <mutex>

#include "evidence/clocks.h"
#include "evidence/discover.h"
#include "evidence/identity.h"
#include "evidence/ingest.h"
#include "evidence/name_hints.h"
#include "evidence/readers.h"
#include "formats/text/timestamps.h"

namespace holter::evidence {

namespace {

// Inputs are read in parts of neighbours, whose size does not depend on the number of threads.
constexpr std::size_t kPartFiles = 64;
constexpr std::uint64_t kPartBytes = std::uint64_t{32} << 20;
constexpr auto kProgressInterval = std::chrono::milliseconds(100);

struct Part {
  std::size_t first, last;  // [first, last) of Discovery::inputs
};

std::vector<Part> split(const std::vector<Input>& inputs) {
  std::vector<Part> parts;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool full = parts.empty() || i - parts.back().first >= kPartFiles || bytes >= kPartBytes;
    if (full) parts.push_back({i, i}), bytes = 0;
    parts.back().last = i + 1;
    bytes += inputs[i].bytes;
  }
  return parts;
}

class Progress {
 public:
  Progress(const Options& options, std::size_t known) : report_(options.progress), known_(known) {}
  void done_one() {
    const std::lock_guard lock(mutex_);
    ++done_;
    const auto now = std::chrono::steady_clock::now();
    if (!report_ || (done_ < known_ && now - last_ < kProgressInterval)) return;
    last_ = now;
    report_(done_, known_);
  }

 private:
  const std::function<void(std::size_t, std::size_t)>& report_;
  const std::size_t known_;
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point last_;
};

// Joins finished parts in the order of their files, whichever finishes first.
class Merger {
 public:
  explicit Merger(model::Evidence& out) : out_(out) {}
  void add(std::size_t index, model::Evidence part) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(index, std::move(part));
    for (auto it = waiting_.find(next_); it != waiting_.end(); it = waiting_.find(++next_)) {
      out_.merge(std::move(it->second));
      waiting_.erase(it);
    }
  }

 private:
  model::Evidence& out_;
  std::mutex mutex_;
  std::map<std::size_t, model::Evidence> waiting_;
  std::size_t next_ = 0;
};

// Names for hints: with the name of the folder given, which may be that of a node.
std::vector<std::string> names_of(const Discovery& found) {
  std::vector<std::string> names;
  for (const auto& input : found.inputs) {
    const auto& folder = found.roots[input.root].name;
    names.push_back(found.roots.size() == 1 && !folder.empty() ? folder + "/" + input.shown : input.shown);
  }
  return names;
}

void read_inputs(const Discovery& found, const Readers& readers, const Options& options, model::Evidence& out) {
  Budget budget(options.limits);
  Progress progress(options, found.inputs.size());
  const auto hints = hints_of(names_of(found));
  const auto read_range = [&](const Part& part, model::Evidence& into) {
    Ingest ingest(found, readers, budget);
    for (std::size_t i = part.first; i < part.last; ++i) {
      ingest.read(found.inputs[i], hints[i], into);
      progress.done_one();
    }
  };
  if (!options.executor) return read_range({0, found.inputs.size()}, out);
  const auto parts = split(found.inputs);
  Merger merger(out);
  options.executor(parts.size(), [&](std::size_t i) {
    model::Evidence part;
    read_range(parts[i], part);
    merger.add(i, std::move(part));
  });
}

void add_troubles(const Discovery& found, model::Evidence& out) {
  for (const auto& trouble : found.troubles) {
    model::SourceRef at;
    if (!trouble.shown.empty()) {
      at.file = static_cast<model::FileId>(out.files.size());
      out.files.push_back({.path = trouble.shown, .format = "", .version = "", .note = trouble.what});
    }
    out.add_problem(at, trouble.what);
  }
}

}  // namespace

base::Result<model::Evidence> read(const std::vector<std::string>& paths, const model::Rules& rules,
                                   const Options& options) {
  auto out = read(paths, make_readers(rules), options);
  if (out) align_clocks(*out, rules);
  return out;
}

base::Result<model::Evidence> read(const std::vector<std::string>& paths, const Readers& readers,
                                   const Options& options) {
  const Discovery found = discover(paths, options.limits);
  if (found.inputs.empty()) {
    if (found.troubles.empty()) return base::fail(base::Code::kNotFound, "no files there");
    const auto& first = found.troubles.front();
    return base::fail(base::Code::kNotFound, first.shown.empty() ? first.what : first.shown + ": " + first.what);
  }
  model::Evidence out;
  read_inputs(found, readers, options, out);
  add_troubles(found, out);
  resolve_identity(out);
  formats::text::align_years(out);
  return out;
}

}  // namespace holter::evidence
