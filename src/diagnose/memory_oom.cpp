// SPDX-License-Identifier: Apache-2.0
// GPU out of memory: fragmentation, a batch that does not fit, or neither; from the numbers that
// PyTorch prints and from a memory table (facts: incidents 3, confusion 19).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analytics/stats.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

struct Oom {
  const model::Fact* fact = nullptr;
  double tried = 0, total = 0, free = 0, allocated = 0, unallocated = -1, reserved = -1;
};

std::vector<Oom> read_ooms(const EvidenceView& view) {
  std::vector<Oom> out;
  for (const auto* f : view.under("oom.")) {
    const auto same_line = [&](const Oom& o) { return o.fact->at.file == f->at.file && o.fact->at.pos == f->at.pos; };
    auto at = std::find_if(out.begin(), out.end(), same_line);
    if (at == out.end()) at = out.insert(out.end(), Oom{.fact = f});
    const auto key = view.text(f->key);
    if (key == "oom.tried_bytes") at->tried = f->number;
    if (key == "oom.total_bytes") at->total = f->number;
    if (key == "oom.free_bytes") at->free = f->number;
    if (key == "oom.allocated_bytes") at->allocated = f->number;
    if (key == "oom.unallocated_bytes") at->unallocated = f->number;
    if (key == "oom.reserved_bytes") at->reserved = f->number;
  }
  for (auto& o : out) {
    if (o.unallocated < 0 && o.reserved >= o.allocated) o.unallocated = o.reserved - o.allocated;
  }
  return out;
}

// Allocated flat while reserved or split blocks grow: the shape of fragmentation over time.
struct Growth {
  bool found = false;
  double allocated_first = 0, allocated_last = 0, reserved_first = 0, reserved_last = 0;
  std::vector<model::Citation> rows;
};

Growth reserved_growth(const EvidenceView& view) {
  Growth g;
  for (const auto& t : view.tables()) {
    const int a = t.column("allocated"), r = t.column("reserved");
    if (a < 0 || r < 0 || a == r || t.rows() < 2) continue;
    const auto allocated = t.numbers(a), reserved = t.numbers(r);
    g.allocated_first = allocated.front();
    g.allocated_last = allocated.back();
    g.reserved_first = reserved.front();
    g.reserved_last = reserved.back();
    const double da = g.allocated_last - g.allocated_first, dr = g.reserved_last - g.reserved_first;
    g.found = dr > 0.1 * g.reserved_first && da < 0.25 * dr;
    if (!g.found) continue;
    g.rows = {view.cite(t, 0, "reserved memory at the start"),
              view.cite(t, t.rows() - 1, "reserved grew while allocated did not")};
    return g;
  }
  return g;
}

model::Finding fragmentation(const EvidenceView& view, const Oom* oom, const Growth& growth) {
  auto f = make_finding(
      {"fragmentation", model::VerdictKind::kMemory, model::Owner::kFramework, growth.found && oom ? 0.88 : 0.72}, "");
  if (oom) {
    f.title = fmt::format(
        "The GPU memory allocator is fragmented: {:.2f} GiB could not be found although {:.2f} GiB were "
        "reserved and unallocated",
        oom->tried / kGiB, oom->unallocated / kGiB);
    f.evidence.push_back(view.cite(*oom->fact, "more is reserved and unallocated than was asked for"));
  } else {
    f.title = fmt::format(
        "The GPU memory allocator fragments: reserved memory grew from {:.1f} to {:.1f} GiB while allocated "
        "stayed near {:.1f} GiB",
        growth.reserved_first, growth.reserved_last, growth.allocated_last);
  }
  append(f.evidence, growth.rows);
  append(f.evidence, view.lines("PYTORCH_(CUDA_)?ALLOC_CONF", "the allocator setting of the job", 1));
  add_named(f, model::CulpritKind::kSoftware, "CUDA caching allocator: fragmentation by changing sizes");
  add_action(f,
             "Use expandable segments (or set max_split_size_mb), and bucket or pad sequence lengths so that "
             "sizes repeat",
             "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
  f.needs.push_back("torch.cuda.memory._dump_snapshot() shortly before the failure shows the free blocks");
  f.explains_causes = {"engine_dead", "rank_crashed"};
  return f;
}

model::Finding too_large(const EvidenceView& view, const Oom& oom) {
  auto f = make_finding({"gpu_oom_config", model::VerdictKind::kMemory, model::Owner::kUserCode, 0.62},
                        fmt::format("The work does not fit the GPU: {:.2f} of {:.2f} GiB are allocated and "
                                    "{:.2f} GiB more are asked for",
                                    oom.allocated / kGiB, oom.total / kGiB, oom.tried / kGiB));
  f.evidence.push_back(view.cite(*oom.fact, "nearly all memory is allocated; little is reserved and unallocated"));
  add_named(f, model::CulpritKind::kConfig, "batch, sequence or parallel sizes");
  add_action(f,
             "Reduce the micro batch or sequence length, turn on activation checkpointing, or raise the "
             "parallel size");
  f.explains_causes = {"engine_dead", "rank_crashed"};
  return f;
}

}  // namespace

void diagnose_gpu_oom(const EvidenceView& view, Output& out) {
  const auto growth = reserved_growth(view);
  const auto ooms = read_ooms(view);
  const Oom* worst = nullptr;
  for (const auto& o : ooms) {
    if (o.total > 0 && (!worst || o.unallocated > worst->unallocated)) worst = &o;
  }
  if (!worst) {
    if (growth.found) out.findings.push_back(fragmentation(view, nullptr, growth));
    return;
  }
  const bool split = worst->unallocated > worst->tried && worst->unallocated > 0.1 * worst->total;
  if (split || (growth.found && worst->unallocated > 0.1 * worst->total)) {
    out.findings.push_back(fragmentation(view, worst, growth));
  } else if (worst->free > worst->tried) {
    out.gaps.push_back(
        "an allocation failed although more memory was free than asked for: another process or a limit is "
        "possible, the evidence does not show which");
  } else if (worst->allocated > 0.6 * worst->total) {
    out.findings.push_back(too_large(view, *worst));
  }
}

}  // namespace holter::diagnose
