// SPDX-License-Identifier: Apache-2.0
// Serving: short requests behind long prefills, a prefix cache that does not hit, a KV cache that
// thrashes, a transfer that does not end.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analytics/stats.h"
#include "base/strings.h"
#include "diagnose/view_diagnosers.h"

namespace holter::diagnose {

namespace {

std::optional<double> setting(const EvidenceView& view, std::string_view pattern) {
  for (const auto* f : view.settings(pattern)) {
    if (f->has_number) return f->number;
  }
  return std::nullopt;
}

void head_of_line(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    const int tokens = t.column("prompt_tokens");
    int ttft = t.column("ttft");
    if (ttft < 0) ttft = t.column("queue_time");
    if (tokens < 0 || ttft < 0 || t.rows() < 6) continue;
    const auto n = t.numbers(tokens), wait = t.numbers(ttft);
    const double low = analytics::quantile(n, 0), high = analytics::quantile(n, 1),
                 split = std::sqrt(std::max(low, 1.0) * high);
    if (high < 4 * std::max(low, 1.0)) continue;
    std::vector<double> short_wait, long_wait, short_tokens, long_tokens;
    std::size_t worst = 0, first_long = 0;
    for (std::size_t r = 0; r < t.rows(); ++r) {
      if (!std::isfinite(n[r]) || !std::isfinite(wait[r])) continue;
      const bool is_short = n[r] < split;
      (is_short ? short_wait : long_wait).push_back(wait[r]);
      (is_short ? short_tokens : long_tokens).push_back(n[r]);
      if (is_short && (wait[r] > wait[worst] || n[worst] >= split)) worst = r;
      if (!is_short && n[first_long] < split) first_long = r;
    }
    if (short_wait.size() < 2 || long_wait.empty()) continue;
    // Alone, a short prompt is faster in proportion; a first token as late as the long ones' is queueing.
    const double s = analytics::median(short_wait), best_long = analytics::quantile(long_wait, 0);
    const double fair = best_long * analytics::median(short_tokens) / std::max(analytics::median(long_tokens), 1.0);
    if (s < 5 * std::max(fair, 1e-9) || s < 0.5 * analytics::median(long_wait)) continue;
    const auto chunk = setting(view, "chunked_prefill_size|max_num_batched_tokens|max_prefill_tokens|prefill_chunk");
    auto f =
        make_finding({"scheduler_hol", model::VerdictKind::kLatency, model::Owner::kFramework, 0.86},
                     fmt::format("Head-of-line blocking: {} short requests (about {:.0f} prompt tokens) wait behind {} "
                                 "long prefills (about {:.0f}); their {} is {:.0f} where about {:.0f} is needed{}",
                                 short_wait.size(), analytics::median(short_tokens), long_wait.size(),
                                 analytics::median(long_tokens), t.name(ttft), s, fair,
                                 chunk ? fmt::format(" (prefill chunk {:.0f})", *chunk) : ""));
    f.evidence = {view.cite(t, worst, "a small request that queued"),
                  view.cite(t, first_long, "a long prefill ahead of it")};
    for (const auto* c : view.settings("chunked_prefill|max_num_batched_tokens|schedule_policy|prefill"))
      f.evidence.push_back(view.cite(*c, "scheduler setting"));
    append(f.evidence, view.lines("TTFT", "the time alone", 1));
    add_named(f, model::CulpritKind::kConfig,
              "large prefills are scheduled ahead of small ones (queue policy, chunk size)");
    add_action(f, "Use a smaller prefill chunk, priorities for short requests, or separate pools for long prompts",
               "--chunked-prefill-size 2048 (SGLang), --max-num-batched-tokens 2048 (vLLM)");
    f.explains_causes = {"prefix_cache_miss", "kv_cache_thrash"};
    out.findings.push_back(std::move(f));
    for (const auto* k : view.meaning("kv_usage")) {
      if (k->number < (k->number > 1.5 ? 80 : 0.8))
        out.ruled_out.push_back({"kv_cache_thrash", "the KV cache has room", {view.cite(*k, "KV cache usage")}});
    }
  }
}

// A rate 0..1 or 0..100.
double as_share(double v) { return v > 1.5 ? v / 100 : v; }

void prefix_cache(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    const int hit = t.column("prefix_hit");
    if (hit < 0 || t.rows() < 4) continue;
    const auto hits = t.numbers(hit);
    const double top = analytics::quantile(hits, 0.9);
    if (as_share(top) < 0.3) continue;
    std::size_t drop = 0;
    for (std::size_t r = 1; r < hits.size(); ++r) {
      if (hits[r - 1] > 0.6 * top && hits[r] < 0.4 * top) drop = r;
    }
    if (drop == 0 || hits.back() > 0.5 * top) continue;
    auto f = make_finding({"prefix_cache_miss", model::VerdictKind::kLatency, model::Owner::kUserCode, 0.78},
                          fmt::format("The prefix cache stopped hitting: {} fell from {} to {}", t.name(hit),
                                      t.text(drop - 1, hit), t.text(drop, hit)));
    f.evidence = {view.cite(t, drop - 1, "before"), view.cite(t, drop, "after"),
                  view.cite(t, t.rows() - 1, "still low")};
    append(f.evidence,
           view.lines("template|system prompt|timestamp|deploy|router|round.?robin|salt|prefix", "what changed", 3));
    add_named(f, model::CulpritKind::kConfig, "prompt prefix or routing");
    add_action(f,
               "Keep the common prefix byte-identical (no time, id or shuffled tools in the system prompt) "
               "and route by prefix to the same replica");
    out.findings.push_back(std::move(f));
    return;
  }
  // One number is enough with a statement of what the prompts share.
  for (const auto* h : view.meaning("prefix_hit")) {
    if (!h->has_number || as_share(h->number) > 0.05) continue;
    auto why = view.lines(
        R"((shared|common|same|identical).{0,30}(prefix|system prompt)|timestamp.{0,40}prompt|prompt.{0,40}timestamp|round.?robin|enable_prefix_caching.{0,6}(false|0)|no[-_]enable[-_]prefix|disable[-_]radix[-_]cache.{0,6}(true|1))",
        "prompts share a prefix, or the cache is off", 3);
    if (why.empty()) continue;
    auto f = make_finding(
        {"prefix_cache_miss", model::VerdictKind::kLatency, model::Owner::kUserCode, 0.7},
        fmt::format("The prefix cache does not hit ({} {})",
                    view.text(h->subject).empty() ? view.text(h->key) : view.text(h->subject), view.value(*h)));
    f.evidence = {view.cite(*h, "hit rate")};
    append(f.evidence, std::move(why));
    add_named(f, model::CulpritKind::kConfig, "prompt prefix, routing or cache setting");
    add_action(f, "Keep the common prefix byte-identical, route by prefix, and turn prefix caching on");
    out.findings.push_back(std::move(f));
    return;
  }
}

void kv_thrash(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    const int pre = t.column("preemptions");
    if (pre < 0 || t.rows() < 3) continue;
    const auto counts = t.numbers(pre);
    const int usage = t.column("kv_usage");
    const double kv = usage < 0 ? -1 : as_share(analytics::quantile(t.numbers(usage), 0.9));
    if (counts.back() - counts.front() < 10 || (kv >= 0 && kv < 0.9)) continue;
    auto f = make_finding(
        {"kv_cache_thrash", model::VerdictKind::kLatency, model::Owner::kUserCode, kv >= 0.9 ? 0.82 : 0.62},
        fmt::format("The KV cache thrashes: preemptions grew from {:.0f} to {:.0f}{}", counts.front(), counts.back(),
                    kv >= 0 ? fmt::format(" at {:.0f}% usage", kv * 100) : ""));
    f.evidence = {view.cite(t, 0, "before"), view.cite(t, t.rows() - 1, "after")};
    append(f.evidence,
           view.lines("preempted by|max_num_seqs|max_running_requests|gpu_memory_utilization", "log and limits", 3));
    add_named(f, model::CulpritKind::kConfig, "more running requests than the KV cache holds");
    add_action(f,
               "Lower max_num_seqs (max_running_requests), raise gpu_memory_utilization or use a smaller KV "
               "format, or add a replica");
    out.findings.push_back(std::move(f));
    return;
  }
  for (const auto* p : view.meaning("preemptions")) {
    const auto usage = view.meaning("kv_usage");
    if (!p->has_number || p->number < 50 || usage.empty() || as_share(usage[0]->number) < 0.9) continue;
    auto f = make_finding({"kv_cache_thrash", model::VerdictKind::kLatency, model::Owner::kUserCode, 0.74},
                          fmt::format("The KV cache thrashes: {:.0f} preemptions at {:.0f}% usage", p->number,
                                      as_share(usage[0]->number) * 100));
    f.evidence = {view.cite(*p, "preemptions"), view.cite(*usage[0], "KV cache usage")};
    add_named(f, model::CulpritKind::kConfig, "more running requests than the KV cache holds");
    add_action(f, "Lower max_num_seqs (max_running_requests), raise gpu_memory_utilization, or add a replica");
    out.findings.push_back(std::move(f));
    return;
  }
}

void imbalance(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    int who = t.column("expert");
    const int tokens = t.column("tokens_per_expert");
    if (who < 0 || tokens < 0 || t.rows() < 4) continue;
    const auto n = t.numbers(tokens);
    double sum = 0;
    for (const double v : n) sum += std::isfinite(v) ? v : 0;
    const double mean = sum / static_cast<double>(n.size());
    const auto top = static_cast<std::size_t>(std::max_element(n.begin(), n.end()) - n.begin());
    if (mean <= 0 || n[top] < 3 * mean) continue;
    auto f = make_finding({"expert_imbalance", model::VerdictKind::kSlow, model::Owner::kUserCode, 0.76},
                          fmt::format("Expert load is uneven: expert {} takes {:.0f} tokens, {:.1f} times the mean",
                                      t.text(top, who), n[top], n[top] / mean));
    f.evidence = {view.cite(t, top, "the busiest expert"), view.cite(t, top == 0 ? 1 : 0, "another one")};
    if (const int rank = t.column("rank"); rank >= 0)
      add_rank(f, view.context(), static_cast<int>(t.number(top, rank).value_or(-1)));
    else add_named(f, model::CulpritKind::kSoftware, "expert " + std::string(t.text(top, who)));
    add_action(f,
               "Balance the experts: auxiliary loss or bias, capacity factor, replicated or re-placed hot "
               "experts (EPLB)");
    f.explains_causes = {"straggler", "straggler_masked"};
    out.findings.push_back(std::move(f));
  }
}

void storage(const EvidenceView& view, Output& out) {
  for (const auto& t : view.tables()) {
    for (const char* meaning : {"save_time", "load_time"}) {
      const int c = t.column(meaning);
      if (c < 0 || t.rows() < 4) continue;
      const auto v = t.numbers(c);
      const double p50 = analytics::median(v), top = analytics::quantile(v, 1), low = analytics::quantile(v, 0.1);
      const int step_time = t.column("step_time");
      const bool dominates = step_time >= 0 && p50 > 0.4 * analytics::median(t.numbers(step_time)) &&
                             std::string_view(meaning) == "load_time";
      if (!(top > 4 * std::max(low, 1e-9)) && !dominates) continue;
      auto lines = view.lines(
          R"(nfs: server .* not responding|iowait|%util|nfsstat|retrans|MB/s|GB/s|lustre|gpfs|weka|throughput|await)",
          "storage says", 3);
      if (lines.empty() && !dominates) continue;
      const auto worst = static_cast<std::size_t>(std::max_element(v.begin(), v.end()) - v.begin());
      auto f =
          make_finding({"storage_slow", model::VerdictKind::kSlow, model::Owner::kStorage, lines.empty() ? 0.5 : 0.7},
                       fmt::format("Storage is slow: {} reaches {:.4g} (median {:.4g})", t.name(c), top, p50));
      f.evidence = {view.cite(t, worst, "the slowest"), view.cite(t, 0, "in comparison")};
      append(f.evidence, std::move(lines));
      add_named(f, model::CulpritKind::kConfig, "shared storage");
      add_action(f,
                 "Measure the file system from several nodes at once, spread or shard checkpoint writes, "
                 "cache the data set on local disks",
                 "fio --name=seq --rw=read --bs=4M --size=8G --numjobs=4 --directory=<path>");
      f.explains_causes = {"straggler", "checkpoint_stall"};
      out.findings.push_back(std::move(f));
      return;
    }
  }
}

}  // namespace

void diagnose_serving(const EvidenceView& view, Output& out) {
  head_of_line(view, out);
  prefix_cache(view, out);
  kv_thrash(view, out);
  imbalance(view, out);
  storage(view, out);
}

// A server that was only slow to start: the warnings stop and it serves.
void diagnose_startup(const EvidenceView& view, Output& out) {
  auto warnings = view.lines(
      R"(No available shared memory broadcast block|still waiting for|Waiting for .* to (be ready|start)|startup probe failed|Readiness probe failed)",
      "a warning during start-up", 2);
  if (warnings.empty()) return;
  auto ready = view.lines(
      R"(Application startup complete|Uvicorn running on|server is fired up|ready to roll|Server started|Running: \d+ reqs|Startup complete)",
      "the server came up and serves", 2);
  if (ready.empty()) return;
  if (view.says(
          R"(Engine(Core|Core_\w+)? .*(died|dead)|EngineDeadError|Traceback|CUDA error|oom-kill|Killed process|Xid \(PCI|Watchdog caught)"))
    return;
  auto work = view.lines(
      R"(Loading weights took|torch\.compile takes|Graph capturing finished|Model loading took|compil(e|ing)|Loading safetensors|init engine .* took)",
      "where the time went", 3);
  auto f =
      make_finding({"no_fault", model::VerdictKind::kNone, model::Owner::kUnknown, work.empty() ? 0.6 : 0.86},
                   "No fault: the start was slow (loading weights, compiling), then completed, and the server serves");
  f.severity = model::Severity::kInfo;
  f.restart = model::Restart::kNo;
  f.local = false;
  append(f.evidence, std::move(ready));
  append(f.evidence, std::move(work));
  append(f.evidence, std::move(warnings));
  add_action(f, "None; pre-warm the weight and compile caches if start time matters");
  f.explains_causes = {"engine_dead", "host_stuck", "data_path_stall", "compile_skew", "unknown"};
  out.findings.push_back(std::move(f));
}

}  // namespace holter::diagnose
