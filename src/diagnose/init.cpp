// SPDX-License-Identifier: Apache-2.0
#include "diagnose/init.h"

#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/device_facts.h"
#include "hang/init.h"
#include "hang/topology.h"

namespace holter::diagnose {

namespace {

using model::InitStage;

std::string ranks_text(const model::RankSet& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + ranks.to_string();
}

// A communicator of the whole job numbers its ranks as the job does.
bool is_world(const Context& context, const hang::InitGroup& g) {
  return !context.job.ranks_expected || *context.job.ranks_expected == g.size;
}

model::Citation cite_comm(const Context& context, const model::NcclComm& c, std::string why) {
  return cite(context, c.at,
              fmt::format("comm {} rank {} nranks {} host {} pid {}", context.text(c.pointer), c.rank, c.nranks,
                          context.text(c.host), c.pid),
              why);
}

void add_culprits(const hang::InitGroup& g, const model::RankSet& ranks, model::Finding& f) {
  for (const auto r : ranks.to_vector()) {
    if (f.culprits.size() >= 32) break;
    model::Culprit c;
    c.kind = model::CulpritKind::kRank;
    c.rank = r;
    for (const auto& m : g.members) {
      if (m.rank == r && m.comm && value(m.comm->global_rank) >= 0) c.rank = value(m.comm->global_rank);
    }
    f.culprits.push_back(c);
  }
}

model::Finding base_finding() {
  model::Finding f;
  f.kind = model::VerdictKind::kInit;
  f.severity = model::Severity::kApplication;
  f.restart = model::Restart::kAfterEvidence;
  f.depth = model::Depth::kMechanism;
  return f;
}

// Nobody got past the bootstrap and some ranks never appeared: those are waited for.
void report_missing(const Context& context, const hang::InitGroup& g, Output& output) {
  auto f = base_finding();
  f.cause = "rank_never_joined";
  f.confidence = g.unseen.size() * 2 <= static_cast<std::size_t>(g.size) ? 0.72 : 0.55;
  const auto waiting = g.at(g.slowest);
  f.title = fmt::format("{} of {} never joined communicator {}: {} {} {}", ranks_text(g.unseen), g.size, g.id,
                        ranks_text(waiting), waiting.size() == 1 ? "is" : "are", hang::stage_text(g.slowest));
  if (is_world(context, g)) f.ranks = g.unseen;
  add_culprits(g, g.unseen, f);
  f.evidence.push_back(cite_comm(context, *g.members.front().comm, "Init START without what follows the bootstrap"));
  f.explains_causes = {"data_path_stall", "store_overloaded"};
  f.actions.push_back(
      {fmt::format(
           "Look at {}: was the process started, does its log end before NCCL, can it reach the address of the bootstrap",
           ranks_text(g.unseen)),
       "", model::Risk::kNone});
  f.needs = {fmt::format("logs of {} with NCCL_DEBUG=INFO", ranks_text(g.unseen)),
             "a stack of a missing rank: py-spy dump --pid PID"};
  output.findings.push_back(std::move(f));
}

// All joined; some did not come as far as the others.
void report_behind(const Context& context, const hang::InitGroup& g, Output& output) {
  const auto behind = g.at(g.slowest);
  const bool split = g.furthest > g.slowest;
  auto f = base_finding();
  f.cause = "rank_never_joined";
  const bool few = split && behind.size() * 2 <= g.members.size();
  if (!few) {
    f.cause = g.slowest == InitStage::kConnect ? "fabric_unreachable" : "data_path_stall";
  }
  f.confidence = few ? 0.6 : 0.35;
  f.title = fmt::format("{} of communicator {} stopped {}{}", ranks_text(behind), g.id, hang::stage_text(g.slowest),
                        split ? fmt::format(" while others got further ({})", hang::stage_text(g.furthest)) : "");
  if (few) {
    if (is_world(context, g)) f.ranks = behind;
    add_culprits(g, behind, f);
  }
  for (const auto& m : g.members) {
    if (m.stage == g.slowest && f.evidence.size() < 3)
      f.evidence.push_back(cite_comm(context, *m.comm, "the last that this rank shows of it"));
  }
  f.needs = {"warnings and the last lines of these ranks with NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,NET,ENV"};
  f.actions.push_back(
      {"Compare network interface, HCA list and transport of these ranks with the others", "", model::Risk::kNone});
  output.findings.push_back(std::move(f));
}

}  // namespace

void diagnose_init(const Context& context, Output& output) {
  for (const auto& g : hang::join_initialisation(context.evidence)) {
    if (g.finished()) {
      // A finished communicator needs all its members: nobody was missing.
      if (g.unseen.empty() && g.size > 1)
        output.ruled_out.push_back(
            {"rank_never_joined", fmt::format("all {} ranks completed communicator {}", g.size, g.id), {}});
      continue;
    }
    // A log that ends at Init START beside others that went on tells a late rank from a missing one.
    if (g.furthest <= InitStage::kInitStart && !g.unseen.empty()) report_missing(context, g, output);
    else report_behind(context, g, output);
  }
}

void diagnose_lost_peer(const Context& context, Output& output) {
  for (const auto& t : hang::restore_topology(context.evidence)) {
    const auto lost = hang::find_lost_peer(context.evidence, t);
    if (!lost || lost->votes < 2) continue;
    std::string node;
    for (const auto& [process, rank] : t.rank_of) {
      if (rank == lost->rank) node = process.first;
    }
    auto f = base_finding();
    f.cause = "rank_crashed";
    f.kind = model::VerdictKind::kCrash;
    f.restart = model::Restart::kNow;
    f.confidence = 0.68;
    f.title = fmt::format("Rank {}{} went away without a word: {} of its ring neighbours lost their connection to it",
                          lost->rank, node.empty() ? "" : " on " + node, lost->votes);
    f.culprits = {{.kind = model::CulpritKind::kRank, .rank = lost->rank, .node = node}};
    f.ranks = model::RankSet{lost->rank};
    for (const auto* e : lost->errors) {
      if (f.evidence.size() < 4)
        f.evidence.push_back(cite(context, *e, "a neighbour in the ring reports the closed connection"));
      if (const auto ns = comparable_ns(*e); ns > 0 && (f.first_ns == 0 || ns < f.first_ns)) f.first_ns = ns;
    }
    f.explains_causes = {"fabric_unreachable", "data_path_stall", "first_failure_elsewhere"};
    f.actions.push_back(
        {fmt::format("Find out how rank {} ended: exit code, kernel log (oom-kill, segfault), scheduler", lost->rank),
         "dmesg -T | grep -iE 'oom|killed process|segfault|Xid'", model::Risk::kNone});
    f.needs = {fmt::format("how rank {} ended (exit code or kernel log of its host)", lost->rank)};
    output.findings.push_back(std::move(f));
  }
}

}  // namespace holter::diagnose
