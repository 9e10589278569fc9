// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "job.h"

namespace holter::generate {

std::uint32_t Job::group_of(std::int32_t rank, const std::string& desc) const {
  for (const auto g : groups_of[static_cast<std::size_t>(rank)]) {
    if (groups[g].desc == desc) return g;
  }
  return 0;
}

std::int32_t Job::index_in(std::uint32_t group, std::int32_t rank) const {
  const auto& ranks = groups[group].ranks;
  return static_cast<std::int32_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

namespace {

// Rank = pipeline stage x (data x tensor) + replica x tensor + shard.
class Layout {
 public:
  explicit Layout(Job& job) : job_(job), s_(job.shape) {}

  void build() {
    job_.groups_of.resize(static_cast<std::size_t>(s_.ranks));
    std::vector<std::int32_t> world;
    for (int r = 0; r < s_.ranks; ++r) world.push_back(r);
    add("default_pg", world);
    each(s_.pipeline, s_.tensor,
         [&](int p, int t) { add("DATA_PARALLEL_GROUP", line(s_.data(), [&](int d) { return rank(p, d, t); })); });
    each(s_.data(), 1, [&](int d, int) {
      std::vector<std::int32_t> ranks;
      for (int p = 0; p < s_.pipeline; ++p) {
        for (int t = 0; t < s_.tensor; ++t) ranks.push_back(rank(p, d, t));
      }
      add("MODEL_PARALLEL_GROUP", ranks);
    });
    each(s_.pipeline, s_.data(), [&](int p, int d) {
      add("TENSOR_MODEL_PARALLEL_GROUP", line(s_.tensor, [&](int t) { return rank(p, d, t); }));
    });
    each(s_.data(), s_.tensor, [&](int d, int t) {
      add("PIPELINE_MODEL_PARALLEL_GROUP", line(s_.pipeline, [&](int p) { return rank(p, d, t); }));
    });
    each(s_.pipeline * s_.tensor, s_.data() / std::max(1, s_.expert), [&](int pt, int block) {
      add("EXPERT_MODEL_PARALLEL_GROUP",
          line(s_.expert, [&](int e) { return rank(pt / s_.tensor, block * s_.expert + e, pt % s_.tensor); }));
    });
  }

 private:
  int rank(int p, int d, int t) const { return (p * s_.data() + d) * s_.tensor + t; }
  template <typename F>
  static void each(int outer, int inner, F f) {
    for (int a = 0; a < outer; ++a) {
      for (int b = 0; b < inner; ++b) f(a, b);
    }
  }
  template <typename F>
  static std::vector<std::int32_t> line(int count, F f) {
    std::vector<std::int32_t> out;
    for (int i = 0; i < count; ++i) out.push_back(f(i));
    return out;
  }
  void add(const char* desc, std::vector<std::int32_t> ranks) {
    const auto index = static_cast<std::uint32_t>(job_.groups.size());
    for (const auto r : ranks) job_.groups_of[static_cast<std::size_t>(r)].push_back(index);
    job_.groups.push_back({std::to_string(index), desc, std::move(ranks)});
  }

  Job& job_;
  const Shape& s_;
};

class ProgramWriter {
 public:
  ProgramWriter(Job& job, std::int32_t rank, Rng& rng)
      : job_(job), rng_(rng), out_(job.programs[static_cast<std::size_t>(rank)]) {
    tensor_ = job.group_of(rank, "TENSOR_MODEL_PARALLEL_GROUP");
    pipeline_ = job.group_of(rank, "PIPELINE_MODEL_PARALLEL_GROUP");
    data_ = job.group_of(rank, "DATA_PARALLEL_GROUP");
    model_ = job.group_of(rank, "MODEL_PARALLEL_GROUP");
    expert_ = job.group_of(rank, "EXPERT_MODEL_PARALLEL_GROUP");
    stage_ = job.index_in(pipeline_, rank);
  }

  void init() {
    collective(0, OpKind::kBarrier, 1, true);
    collective(data_, OpKind::kBroadcast, 4096);
    collective(tensor_, OpKind::kBroadcast, 2048);
  }

  void step(int number) {
    step_ = number;
    const int stages = job_.shape.pipeline;
    for (int m = 0; m < kMicrobatches; ++m) {
      if (stage_ > 0) p2p(OpKind::kRecv, stage_ - 1);
      layers();
      if (stage_ + 1 < stages) p2p(OpKind::kSend, stage_ + 1);
    }
    for (int m = 0; m < kMicrobatches; ++m) {
      if (stage_ + 1 < stages) p2p(OpKind::kRecv, stage_ + 1);
      layers();
      if (stage_ > 0) p2p(OpKind::kSend, stage_ - 1);
    }
    for (int bucket = 0; bucket < 2; ++bucket) collective(data_, OpKind::kReduceScatter, 1U << (20 + bucket), false);
    collective(model_, OpKind::kAllReduce, 1);   // gradient norm
    collective(0, OpKind::kAllReduce, 4, true);  // loss and counters, read by the host
    collective(0, OpKind::kBroadcast, 16);       // next schedule
    for (int bucket = 0; bucket < 2; ++bucket) collective(data_, OpKind::kAllGather, 1U << (20 + bucket));
  }

 private:
  static constexpr int kMicrobatches = 2;

  void layers() {
    collective(tensor_, OpKind::kAllGather, 1U << 22);
    collective(expert_, OpKind::kAllToAll, 1U << 21);
    collective(expert_, OpKind::kAllToAll, (1U << 21) + 4096);
    collective(tensor_, OpKind::kReduceScatter, 1U << 22);
  }

  Op base(std::uint32_t group, OpKind kind, std::uint32_t elements) {
    Op op;
    op.group = group;
    op.kind = kind;
    op.elements = elements;
    op.step = step_;
    op.compute = uniform(rng_, 0.002, 0.004);
    return op;
  }

  // Groups of one exist and are never used, as in real jobs.
  void collective(std::uint32_t group, OpKind kind, std::uint32_t elements, bool sync = false) {
    if (job_.groups[group].ranks.size() < 2) return;
    auto op = base(group, kind, elements);
    op.blocking = kind != OpKind::kReduceScatter || group != data_;
    op.sync = sync;
    out_.push_back(op);
  }

  void p2p(OpKind kind, std::int32_t peer) {
    auto op = base(pipeline_, kind, 1U << 22);
    op.peer = peer;
    op.blocking = kind == OpKind::kRecv;
    out_.push_back(op);
  }

  Job& job_;
  Rng& rng_;
  std::vector<Op>& out_;
  std::uint32_t tensor_, pipeline_, data_, model_, expert_;
  std::int32_t stage_;
  std::int32_t step_ = 0;
};

}  // namespace

Job make_job(const Shape& shape) {
  Job job;
  job.shape = shape;
  Layout(job).build();
  return job;
}

void write_programs(Job& job, int operations, Rng& rng) {
  job.programs.resize(static_cast<std::size_t>(job.shape.ranks));
  job.stop_before.assign(static_cast<std::size_t>(job.shape.ranks), -1);
  std::size_t shortest = 0;
  for (int step = -1; shortest < static_cast<std::size_t>(operations) || step < 3; ++step) {
    shortest = ~std::size_t{0};
    for (std::int32_t r = 0; r < job.shape.ranks; ++r) {
      ProgramWriter writer(job, r, rng);
      if (step < 0) writer.init();
      else writer.step(step);
      shortest = std::min(shortest, job.programs[static_cast<std::size_t>(r)].size());
    }
  }
}

}  // namespace holter::generate
