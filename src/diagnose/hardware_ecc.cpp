// SPDX-License-Identifier: Apache-2.0
// GPU memory faults. What decides is the remap state: failure means replacement, pending means reset,
// a past count alone means nothing.
#include <set>

#include <fmt/format.h>

#include "base/pci.h"
#include "base/strings.h"
#include "diagnose/hardware.h"

namespace holter::diagnose {

namespace {

const std::set<int> kMemory{48, 63, 64, 92, 94, 95, 140, 156, 157, 168, 171, 172, 175};

struct Memory {
  std::vector<const Xid*> xids;
  const model::Fact* failure = nullptr;  // remap failure: Yes
  const model::Fact* pending = nullptr;  // remap pending: Yes
  const model::Fact* volatile_errors = nullptr;
  const model::Fact* aggregate = nullptr;
  bool pending_no = false, failure_no = false;

  const Xid* find(std::initializer_list<int> numbers) const {
    for (const auto n : numbers) {
      for (const auto* x : xids) {
        if (x->number == n) return x;
      }
    }
    return nullptr;
  }
};
using Memories = std::map<std::pair<std::string, std::string>, Memory>;

void read_fact(const Context& context, const Names& names, const model::Fact& f, Memories& all) {
  const auto key = base::lower(context.text(f.key));
  const bool remap = key.find("remap") != std::string::npos;
  const bool uncorrectable = key.find("uncorr") != std::string::npos;
  if (!remap && !uncorrectable) return;
  auto pci = base::canonical_pci(context.text(f.subject));
  if (pci.empty()) return;
  const auto value = base::lower(context.text(f.value));
  const bool yes = value == "yes" || value == "1" || value == "true", no = value == "no" || value == "0";
  auto& m = all[{names.node(f.node), pci}];
  if (remap && key.find("fail") != std::string::npos) (yes ? m.failure = &f : m.failure), m.failure_no = no;
  else if (remap && key.find("pending") != std::string::npos) (yes ? m.pending = &f : m.pending), m.pending_no = no;
  else if (f.has_number && f.number > 0 && key.find("volatile") != std::string::npos) m.volatile_errors = &f;
  else if (f.has_number && f.number > 0 && key.find("aggregate") != std::string::npos) m.aggregate = &f;
}

void cite_all(const Context& context, const Memory& m, model::Finding& f) {
  for (const auto* x : m.xids) {
    if (f.evidence.size() < 4)
      f.evidence.push_back(cite(context, *x->event, fmt::format("Xid {} of this GPU", x->number)));
  }
  if (m.failure) f.evidence.push_back(cite(context, *m.failure, "row remapping failed: the spare rows are used up"));
  if (m.pending) f.evidence.push_back(cite(context, *m.pending, "a remap waits for a reset"));
  if (m.volatile_errors) f.evidence.push_back(cite(context, *m.volatile_errors, "errors since the last reset"));
  else if (m.aggregate) f.evidence.push_back(cite(context, *m.aggregate, "errors over the life of the GPU"));
}

std::string numbers(const Memory& m) {
  std::set<int> all;
  for (const auto* x : m.xids) all.insert(x->number);
  return fmt::format("Xid {}", fmt::join(all, ", "));
}

void decide_failure(const Names& names, const std::string& node, const std::string& pci, const Memory& m,
                    model::Finding& f) {
  f.confidence = m.failure ? 0.95 : 0.86;
  f.severity = model::Severity::kReplace;
  f.title =
      fmt::format("{}: row remapping failed after uncorrectable memory errors ({}); the GPU has to be replaced",
                  names.gpu(node, pci),
                  m.xids.empty() ? "remap failure flag" : numbers(m) + (m.failure ? ", remap failure flag set" : ""));
  f.actions.push_back(drain(node, "GPU memory remap failure"));
  f.actions.push_back(
      {fmt::format("Isolate {} and start the RMA; resetting does not restore the used-up bank", names.gpu(node, pci)),
       "nvidia-bug-report.sh", model::Risk::kDisruptive});
  if (!m.failure) f.needs = {"the remap flags: nvidia-smi -q -d ROW_REMAPPER"};
}

void decide_reset(const Names& names, const std::string& node, const std::string& pci, const Memory& m,
                  model::Finding& f) {
  const bool contained = m.find({94}) && !m.find({95, 48, 140});
  f.confidence = m.find({95, 48, 140, 175}) ? 0.9 : 0.8;
  f.severity = contained && !m.pending ? model::Severity::kApplication : model::Severity::kGpuFatal;
  f.title = fmt::format(
      "{}: {} memory error ({}{})", names.gpu(node, pci), contained ? "contained uncorrectable" : "uncorrectable",
      m.xids.empty() ? "remap pending" : numbers(m), m.pending && !m.xids.empty() ? ", remap pending" : "");
  if (!contained || m.pending) {
    f.actions.push_back(reset_gpu(names, node, pci));
    f.actions.push_back({"Check the remap flags after the reset; a remap failure means RMA",
                         "nvidia-smi -q -d ROW_REMAPPER", model::Risk::kNone});
  } else {
    f.actions.push_back(
        {"Restart the job: only the program that touched the row was killed; reset the GPU at the next gap to finish the remap",
         "", model::Risk::kLow});
  }
  if (!m.failure_no && !m.failure) f.needs = {"the remap flags: nvidia-smi -q -d ROW_REMAPPER"};
}

void decide_history(const Names& names, const std::string& node, const std::string& pci, const Memory& m,
                    model::Finding& f) {
  f.cause = "ecc_recovered";
  f.confidence = 0.6;
  f.severity = model::Severity::kInfo;
  f.restart = model::Restart::kUnknown;
  f.exclude_nodes.clear();
  f.local = false;
  f.aside = true;
  f.depth = model::Depth::kSymptom;
  f.title = fmt::format("{}: past memory errors that were recovered ({}); no failure and nothing pending",
                        names.gpu(node, pci), m.xids.empty() ? "only the lifetime counter is above zero" : numbers(m));
  f.actions.push_back(
      {"Keep the GPU in service and watch the counter; an old count alone is no fault", "", model::Risk::kNone});
}

}  // namespace

void diagnose_ecc(const Context& context, Output& output) {
  const Names names(context);
  const auto xids = ordered_xids(context, names);
  Memories all;
  for (const auto& x : xids) {
    if (kMemory.contains(x.number)) all[{x.node, x.pci}].xids.push_back(&x);
  }
  for (const auto& f : context.evidence.facts) read_fact(context, names, f, all);
  for (const auto& [where, m] : all) {
    const auto& [node, pci] = where;
    const bool terminal = m.failure || m.find({64});
    const bool fault = m.pending || m.find({95, 94, 48, 140, 156, 168, 175}) || m.volatile_errors;
    if (!terminal && !fault && !m.aggregate && m.xids.empty()) continue;
    model::Finding f;
    f.cause = "ecc_row_remap";
    f.kind = model::VerdictKind::kNodeFault;
    f.owner = model::Owner::kPlatform;
    f.restart = model::Restart::kNow;
    f.local = true;
    if (!node.empty()) f.exclude_nodes = {node};
    f.culprits = {gpu_culprit(names, node, pci)};
    f.explains_causes = {"app_kernel_fault", "rank_crashed", "gpu_hw_degraded"};
    if (!m.xids.empty()) f.first_ns = comparable_ns(*m.xids.front()->event);
    cite_all(context, m, f);
    if (terminal) decide_failure(names, node, pci, m, f);
    else if (fault) decide_reset(names, node, pci, m, f);
    else decide_history(names, node, pci, m, f);
    if (terminal || fault) {
      if (!m.xids.empty()) add_followers(context, xids, *m.xids.front(), f);
    }
    output.findings.push_back(std::move(f));
  }
}

}  // namespace holter::diagnose
