// SPDX-License-Identifier: Apache-2.0
// NCCL RAS replies: who did not answer, and who launched less than the others. RAS counts launches, so
// equal counts clear nobody (a kernel may be stuck), and text replies list outliers only.
#include "diagnose/ras.h"

#include <array>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/places.h"

namespace holter::diagnose {

namespace {

constexpr std::array<std::string_view, 5> kFunctions{"Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"};

struct Laggards {
  std::vector<const model::RasRank*> ranks;
  std::string_view function;
  std::int64_t behind_count = 0, usual_count = 0;
};

// The minority with the lowest launch count of one function, when a majority has launched more.
Laggards find_laggards(const model::RasComm& comm) {
  Laggards best;
  for (std::size_t f = 0; f < kFunctions.size(); ++f) {
    std::map<std::int64_t, std::vector<const model::RasRank*>> by_count;
    std::size_t known = 0;
    for (const auto& r : comm.ranks) {
      if (!r.missing && r.counts[f] >= 0) by_count[r.counts[f]].push_back(&r), ++known;
    }
    if (by_count.size() < 2) continue;
    std::vector<const model::RasRank*> low;
    for (const auto& [count, ranks] : by_count) {
      if (count < by_count.rbegin()->first) low.insert(low.end(), ranks.begin(), ranks.end());
    }
    if (low.size() * 2 < known && low.size() > best.ranks.size()) {
      best = {low, kFunctions[f], by_count.begin()->first, by_count.rbegin()->first};
    }
  }
  return best;
}

class RasDiagnosis {
 public:
  RasDiagnosis(const Context& context, Output& out) : context_(context), out_(out) {}

  void run() {
    for (const auto& reply : context_.evidence.ras) {
      for (const auto& comm : reply.comms) look_at(reply, comm);
    }
  }

 private:
  // A communicator of the whole job numbers ranks as the job does; else the process says who it is.
  std::int32_t global_rank(const model::RasComm& comm, const model::RasRank& r) const {
    const auto expected = context_.job.ranks_expected;
    if (!expected || comm.size >= *expected) return r.rank;
    for (const auto& [rank, pid] : context_.job.pid_of) {
      const auto node = context_.job.node_of.find(rank);
      const bool same_node = node == context_.job.node_of.end() || node->second == context_.text(r.host);
      if (pid == r.pid && same_node) return rank;
    }
    return -1;
  }

  void look_at(const model::RasReply& reply, const model::RasComm& comm) {
    std::vector<const model::RasRank*> silent;
    for (const auto& r : comm.ranks) {
      if (r.missing || r.unresponsive || r.dead) silent.push_back(&r);
    }
    if (!silent.empty()) add_silent(reply, comm, silent);
    const auto late = find_laggards(comm);
    if (!late.ranks.empty()) add_late(reply, comm, late);
    if (silent.empty() && late.ranks.empty() && comm.warnings.empty() && comm.ranks.size() > 1) {
      out_.gaps.push_back(fmt::format(
          "RAS shows equal launch counts in communicator {}: a kernel that was launched and never ends would look the same",
          context_.text(comm.hash)));
    }
  }

  model::Finding finding(const model::RasReply& reply, const model::RasComm& comm,
                         const std::vector<const model::RasRank*>& ranks) {
    model::Finding f;
    f.kind = model::VerdictKind::kHang;
    f.depth = model::Depth::kMechanism;
    f.restart = model::Restart::kAfterEvidence;
    f.first_ns = reply.time.comparable() ? reply.time.ns : 0;
    for (const auto* r : ranks) {
      model::Culprit c;
      c.kind = model::CulpritKind::kRank;
      if (const auto rank = global_rank(comm, *r); rank >= 0) {
        c.rank = rank;
        f.ranks.insert(rank);
      }
      c.node = context_.text(r->host);
      c.gpu = r->cuda_dev >= 0 ? std::to_string(r->cuda_dev) : "";
      c.name = r->pid >= 0 ? fmt::format("pid {}", r->pid) : "";
      f.culprits.push_back(std::move(c));
    }
    return f;
  }
  std::string name_of(const model::RasRank& r) const {
    return fmt::format("rank {} (pid {} on {}, GPU {})", r.rank, r.pid, context_.text(r.host), r.cuda_dev);
  }
  model::SourceRef place(const model::RasReply& reply, const model::RasRank& r) const {
    return r.line > 0 ? model::SourceRef{reply.at.file, model::PosKind::kLine, r.line} : reply.at;
  }

  // The bytes of the reply; a rank that only a count names has none.
  std::string quote(const model::RasRank& r) const {
    return r.text == model::StrId::kEmpty ? name_of(r) : std::string(context_.text(r.text));
  }

  void add_silent(const model::RasReply& reply, const model::RasComm& comm,
                  const std::vector<const model::RasRank*>& ranks) {
    if (ranks.size() * 2 >= static_cast<std::size_t>(std::max(comm.size, 1))) return;
    auto f = finding(reply, comm, ranks);
    const bool dead = ranks.front()->dead;
    f.cause = dead ? "rank_crashed" : "host_stuck";
    f.confidence = 0.75;
    f.title = fmt::format(
        "{}{}: {} NCCL's RAS thread, while {} of {} ranks of communicator {} do", name_of(*ranks.front()),
        ranks.size() > 1 ? fmt::format(" and {} more", ranks.size() - 1) : "",
        dead ? "the process is gone; it does not answer" : "the process is stopped or unreachable; it does not answer",
        comm.size - static_cast<std::int32_t>(ranks.size()), comm.size, context_.text(comm.hash));
    for (const auto* r : ranks) {
      if (f.evidence.size() < 4)
        f.evidence.push_back(cite(context_, place(reply, *r), quote(*r), "missing from the RAS reply"));
    }
    f.actions.push_back(
        {"Look at the process on its node before the job is killed: its state (T stopped, D waiting for a device or storage, Z dead) and its stack",
         fmt::format("ssh {} cat /proc/{}/status /proc/{}/stack", context_.text(ranks.front()->host),
                     ranks.front()->pid, ranks.front()->pid),
         model::Risk::kLow});
    f.needs.push_back("state and stack of " + name_of(*ranks.front()));
    out_.findings.push_back(std::move(f));
  }

  void add_late(const model::RasReply& reply, const model::RasComm& comm, const Laggards& late) {
    auto f = finding(reply, comm, late.ranks);
    f.cause = "host_stuck";
    f.confidence = 0.75;
    f.title = fmt::format("{}{}: launched {} {} calls where the others launched {}", name_of(*late.ranks.front()),
                          late.ranks.size() > 1 ? fmt::format(" and {} more", late.ranks.size() - 1) : "",
                          late.behind_count, late.function, late.usual_count);
    for (const auto* r : late.ranks) {
      if (f.evidence.size() < 4) {
        f.evidence.push_back(cite(context_, place(reply, *r), quote(*r),
                                  fmt::format("{} {}: fewer than the others", late.function, late.behind_count)));
      }
    }
    f.actions.push_back(
        {"Take the stack of this process: it names the line of code that does not reach the next collective",
         fmt::format("py-spy dump --pid {}", late.ranks.front()->pid), model::Risk::kLow});
    out_.findings.push_back(std::move(f));
  }

  const Context& context_;
  Output& out_;
};

}  // namespace

void diagnose_ras(const Context& context, Output& out) { RasDiagnosis(context, out).run(); }

}  // namespace holter::diagnose
