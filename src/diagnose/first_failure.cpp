// SPDX-License-Identifier: Apache-2.0
#include "diagnose/first_failure.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "diagnose/log_failures.h"

namespace holter::diagnose {

namespace {

using model::Event;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

class FirstFailure {
 public:
  FirstFailure(const Context& context, Output& out) : context_(context), out_(out) {}

  void run() {
    path_on_some_nodes();
    port_taken();
    killed_for_memory();
    slow_start();
  }

 private:
  std::string_view kind(const Event& e) const { return context_.text(e.kind); }
  std::string get(const Event& e, std::string_view name) const { return field_text(context_, e, name); }

  std::vector<const Event*> events(std::string_view wanted) const {
    std::vector<const Event*> found;
    for (const auto& e : context_.evidence.events) {
      if (kind(e) == wanted) found.push_back(&e);
    }
    return found;
  }

  static model::Culprit node_culprit(std::string node) {
    model::Culprit c;
    c.kind = model::CulpritKind::kNode;
    c.node = std::move(node);
    return c;
  }

  // Everything a local first failure makes of the rest of the job.
  static std::vector<std::string> consequences() {
    return {"data_path_stall", "rank_never_joined",  "host_stuck",
            "straggler",       "fabric_unreachable", "store_overloaded",
            "rank_crashed",    "engine_dead",        "first_failure_elsewhere",
            "unknown",         "nccl_bug",           "barrier_long_prep",
            "link_flap"};
  }

  // --- a file that another node has ---------------------------------------------
  void path_on_some_nodes() {
    std::set<std::string> done;
    for (const auto* e : events("storage.no_such_file")) {
      const auto path = get(*e, "path");
      const auto node = node_of(context_, *e);
      if (path.empty() || !done.insert(path).second) continue;
      const Event* elsewhere = nullptr;  // the path in use on another node
      bool others = false;
      for (const auto& o : context_.evidence.events) {
        if (node_of(context_, o) == node || kind(o) == "storage.no_such_file") continue;
        if (!node_of(context_, o).empty()) others = true;
        if (has(context_.text(o.text), path) && !elsewhere) elsewhere = &o;
      }
      if (node.empty() || !others) continue;
      add_path_finding(*e, path, node, elsewhere);
    }
  }
  void add_path_finding(const Event& e, const std::string& path, const std::string& node, const Event* elsewhere) {
    auto f = finding_of(context_, "storage_not_shared");
    const auto mount = local_mount(path);
    f.title = fmt::format(
        "{}: FileNotFoundError, {} is not there{}{}: the path is not shared by all nodes", who(context_, e), path,
        elsewhere ? fmt::format(", though {} has it", who(context_, *elsewhere)) : "", mount ? " (local disk)" : "");
    f.confidence = elsewhere && mount ? 0.92 : elsewhere ? 0.85 : mount ? 0.75 : 0.5;
    f.local = true;
    f.first_ns = comparable_ns(e);
    if (value(e.rank) >= 0) f.ranks.insert(value(e.rank));
    f.culprits.push_back(node_culprit(node));
    f.culprits.back().name = path;
    f.evidence.push_back(cite(context_, e, "the file is missing on this node"));
    if (elsewhere) f.evidence.push_back(cite(context_, *elsewhere, "another node has or wrote the file"));
    if (mount)
      f.evidence.push_back(
          cite(context_, mount->at, context_.text(mount->text), "the path lies on a local file system"));
    f.explains_causes = consequences();
    out_.findings.push_back(std::move(f));
  }
  // "node0: /dev/nvme1n1 on /scratch type xfs": a mount above the path of a kind that no two hosts share.
  const model::Fact* local_mount(const std::string& path) const {
    for (const auto& fact : context_.evidence.facts) {
      const auto text = context_.text(fact.text);
      const auto on = text.find(" on /");
      const auto type = text.find(" type ");
      if (on == std::string_view::npos || type == std::string_view::npos || type < on + 4) continue;
      const auto point = text.substr(on + 4, type - on - 4);
      if (point == "/" || !std::string_view(path).starts_with(point)) continue;
      const auto fs = text.substr(type + 6);
      for (const std::string_view local : {"xfs", "ext4", "ext3", "btrfs", "tmpfs", "overlay", "zfs"}) {
        if (fs.starts_with(local)) return &fact;
      }
    }
    return nullptr;
  }

  // --- a port that another process holds ----------------------------------------
  void port_taken() {
    auto found = events("net.address_in_use");
    for (const auto* e : events("torch.store.listen_in_use")) found.push_back(e);
    if (found.empty()) return;
    std::stable_sort(found.begin(), found.end(),
                     [&](const auto* a, const auto* b) { return earlier(context_, *a, *b); });
    const auto& e = *found.front();
    const auto port = get(e, "port");
    auto f = finding_of(context_, "first_failure_elsewhere");
    const auto address = get(e, "address");
    const auto attempt = attempt_of(context_, e);
    std::string holder;
    const auto source = port_holder(port, holder);
    f.title = fmt::format("{}{}: port {} is already in use{} (Address already in use{}{}); {}", who(context_, e),
                          address.empty() || has(who(context_, e), address) ? "" : " (" + address + ")",
                          port.empty() ? "of the service" : port, holder.empty() ? "" : " by " + holder,
                          clock(e.time).empty() ? "" : " at " + clock(e.time),
                          attempt >= 0 ? fmt::format(", attempt {}", attempt) : "", order_of_others(e));
    f.confidence = 0.88;
    f.local = true;
    f.first_ns = comparable_ns(e);
    const auto node = node_of(context_, e);
    if (!node.empty() || !address.empty()) f.culprits.push_back(node_culprit(node.empty() ? address : node));
    if (!f.culprits.empty())
      f.culprits.back().name = fmt::format("{} port {}{}", address, port, holder.empty() ? "" : " held by " + holder);
    for (const auto* o : found) {
      if (f.evidence.size() < 3) f.evidence.push_back(cite(context_, *o, "the first failure with a local reason"));
    }
    if (source.kind != model::PosKind::kNone)
      f.evidence.push_back(cite(context_, source, holder_text_, "who holds the port"));
    f.actions.insert(f.actions.begin(),
                     {"Free the port or choose a fixed one that is free on that node",
                      fmt::format("ss -ltnp 'sport = :{}'", port.empty() ? "PORT" : port), model::Risk::kLow});
    f.explains_causes = consequences();
    std::erase(f.explains_causes, "first_failure_elsewhere");
    out_.findings.push_back(std::move(f));
  }
  // What another node says at about the same time cannot be called a consequence.
  std::string order_of_others(const Event& e) const {
    for (const auto& o : context_.evidence.events) {
      if (kind(o).starts_with("log.") || kind(o).starts_with("progress.")) continue;
      const auto note = unordered_note(context_, e, o);
      if (!note.empty()) return "which of this and the errors of other nodes came first is not known: " + note;
    }
    return "errors of other nodes came after and are secondary";
  }
  // "LISTEN 0 100 10.1.2.3:5555 ... users:(("agent",pid=19,fd=14))" of `ss -ltnp`.
  model::SourceRef port_holder(const std::string& port, std::string& holder) {
    if (port.empty()) return {};
    const auto look = [&](std::string_view text) {
      if (!has(text, ":" + port + " ") || !has(text, "LISTEN")) return false;
      const auto open = text.find("((\"");
      if (open == std::string_view::npos) return false;
      const auto close = text.find('"', open + 3);
      const auto pid = text.find("pid=", open);
      if (close == std::string_view::npos || pid == std::string_view::npos) return false;
      const auto digits = text.substr(pid + 4, text.find_first_not_of("0123456789", pid + 4) - pid - 4);
      holder = fmt::format("{} pid {}", text.substr(open + 3, close - open - 3), digits);
      holder_text_ = text;
      return true;
    };
    for (const auto& e : context_.evidence.events) {
      if (look(context_.text(e.text))) return e.at;
    }
    for (const auto& fact : context_.evidence.facts) {
      if (look(context_.text(fact.text))) return fact.at;
    }
    return {};
  }

  // --- a process killed for its memory -------------------------------------------
  void killed_for_memory() {
    auto kills = events("kernel.oom_kill");
    if (kills.empty()) kills = events("memory.oom_killer");
    std::stable_sort(kills.begin(), kills.end(),
                     [&](const auto* a, const auto* b) { return earlier(context_, *a, *b); });
    if (kills.empty()) return killed_without_kernel_log();
    const Event* kill = kills.front();
    for (const auto* k : kills) {  // the line that names the process
      if (pid_of(*k) > 0) {
        kill = k;
        break;
      }
    }
    const auto pid = pid_of(*kill);
    const Event* exit = exit_of(pid);
    auto node = node_of(context_, *kill);
    if (node.empty() && exit) node = node_of(context_, *exit);
    auto f = finding_of(context_, "host_oom_kill");
    auto task = get(*kill, "task");
    if (task.empty()) task = get(*kill, "process");
    f.title = fmt::format("{}: the kernel's OOM killer ended process {}{} at {} for host memory, out of memory{}",
                          node.empty() ? "a node" : node, pid > 0 ? std::to_string(pid) : "",
                          task.empty() ? "" : " (" + task + ")",
                          clock(kill->time).empty() ? "an unknown time" : clock(kill->time), timeout_note(*kill));
    f.confidence = exit ? 0.93 : 0.88;
    f.local = true;
    f.first_ns = comparable_ns(*kill);
    if (!node.empty()) f.culprits.push_back(node_culprit(node));
    if (f.culprits.empty()) f.culprits.push_back({.kind = model::CulpritKind::kProcess});
    f.culprits.back().name = fmt::format("pid {}{}", pid, task.empty() ? "" : " " + task);
    for (const auto* k : kills) {
      if (f.evidence.size() < 2) f.evidence.push_back(cite(context_, *k, "the kernel killed it for its memory"));
    }
    if (exit) f.evidence.push_back(cite(context_, *exit, "the launcher saw the same process end"));
    if (first_timeout_)
      f.evidence.push_back(
          cite(context_, first_timeout_->at, context_.text(first_timeout_->text), "began to wait after the kill"));
    f.explains_causes = consequences();
    out_.findings.push_back(std::move(f));
    rule_out_network(*kill);
  }
  std::int32_t pid_of(const Event& e) const {
    for (const std::string_view name : {"pid", "pid2"}) {
      if (const auto n = base::to_int<std::int32_t>(get(e, name))) return *n;
    }
    return e.pid;
  }
  const Event* exit_of(std::int32_t pid) const {
    for (const auto& e : context_.evidence.events) {
      if (pid > 0 && e.pid == pid && kind(e) == "exit") return &e;
    }
    return nullptr;
  }
  // The first watchdog line, and when its call began: the kill came before that ended.
  std::string timeout_note(const Event& kill) {
    for (const auto& w : context_.evidence.watchdog) {
      if (w.ran_ms < 0 || !w.time.comparable()) continue;
      if (!first_timeout_ || w.time.job_ns() < first_timeout_->time.job_ns()) first_timeout_ = &w;
    }
    const auto killed = comparable_ns(kill);
    const auto& clocks = context_.evidence.clocks;
    const auto margin =
        first_timeout_ ? model::uncertainty_ns(clocks[kill.time.clock], clocks[first_timeout_->time.clock]) : 0;
    if (!first_timeout_ || killed == 0 || killed + margin > first_timeout_->time.job_ns()) {
      first_timeout_ = nullptr;
      return "";
    }
    const auto seconds = (first_timeout_->time.job_ns() - killed) / 1'000'000'000;
    return fmt::format("; the survivors' timeouts ({} s of waiting) came {} s after it", first_timeout_->ran_ms / 1000,
                       seconds);
  }
  void rule_out_network(const Event& kill) {
    for (const auto& e : context_.evidence.events) {
      const auto k = kind(e);
      if (!k.starts_with("net.") && !k.starts_with("nccl.ib") && !k.starts_with("torch.store")) continue;
      if (!before(context_, kill, e)) continue;
      out_.ruled_out.push_back({"fabric_unreachable",
                                "the connection errors came after the process was killed",
                                {cite(context_, e, "after the kill")}});
      return;
    }
    if (first_timeout_) {
      out_.ruled_out.push_back(
          {"data_path_stall",
           "the waiting began with the death of the killed process",
           {cite(context_, first_timeout_->at, context_.text(first_timeout_->text), "after the kill")}});
    }
  }
  // "exit -9" alone: most often memory, but anybody may send the signal.
  void killed_without_kernel_log() {
    for (const auto* e : events("exit")) {
      const auto how = get(*e, "how");
      const bool sure = how == "oom_kill";
      if (!sure && get(*e, "signal") != "9") continue;
      auto f = finding_of(context_, "host_oom_kill");
      f.title = sure ? fmt::format("{}: ended for its host memory (OOM): {}", who(context_, *e),
                                   base::ellipsize(context_.text(e->text), 160))
                     : fmt::format(
                           "{}: process {} was killed by signal 9; the kernel's log would show whether memory ran out",
                           who(context_, *e), e->pid);
      f.confidence = sure ? 0.88 : 0.55;
      f.local = true;
      f.first_ns = comparable_ns(*e);
      if (value(e->rank) >= 0) f.ranks.insert(value(e->rank));
      const auto node = node_of(context_, *e);
      if (value(e->rank) >= 0)
        f.culprits.push_back({.kind = model::CulpritKind::kRank, .rank = value(e->rank), .node = node});
      else if (!node.empty()) f.culprits.push_back(node_culprit(node));
      else f.culprits.push_back({.kind = model::CulpritKind::kProcess, .name = fmt::format("pid {}", e->pid)});
      f.evidence.push_back(cite(context_, *e, "how the process ended"));
      if (!sure) f.needs.push_back("dmesg -T of that node around that time (oom-kill, Killed process)");
      f.explains_causes = consequences();
      out_.findings.push_back(std::move(f));
      return;
    }
  }

  // --- a start that took long and came to an end -----------------------------------
  void slow_start() {
    const auto notices = events("vllm.shm_broadcast");
    if (notices.empty()) return;
    const Event* ready = nullptr;
    std::vector<const Event*> work;
    for (const auto* e : events("progress.phase")) {
      const auto phase = get(*e, "phase");
      if (phase == "serving" && e->at.file == notices.back()->at.file && e->at.pos > notices.back()->at.pos) {
        if (!ready) ready = e;
      } else if (phase == "load_weights" || phase == "compile" || phase == "graph_capture") {
        work.push_back(e);
      }
    }
    if (!ready) return;
    model::Finding f;
    f.cause = "no_fault";
    f.kind = model::VerdictKind::kNone;
    f.severity = model::Severity::kInfo;
    f.restart = model::Restart::kNo;
    f.confidence = 0.85;
    f.title = fmt::format(
        "No fault: a slow start (loading weights, compiling) that completed at {}; the shared-memory notices stopped then",
        clock(ready->time).empty() ? "its last line" : clock(ready->time));
    f.evidence.push_back(cite(context_, *notices.front(), "printed while workers were busy"));
    for (const auto* e : work) {
      if (f.evidence.size() < 4) f.evidence.push_back(cite(context_, *e, "what the workers did meanwhile"));
    }
    f.evidence.push_back(cite(context_, *ready, "the engine serves"));
    f.actions.push_back(
        {"None needed; pre-warm the weight and compile caches if start time matters", "", model::Risk::kNone});
    f.explains_causes = {"engine_dead", "data_path_stall", "host_stuck", "unknown"};
    out_.findings.push_back(std::move(f));
  }

  const Context& context_;
  Output& out_;
  const model::WatchdogRecord* first_timeout_ = nullptr;
  std::string holder_text_;
};

}  // namespace

void diagnose_first_failure(const Context& context, Output& out) { FirstFailure(context, out).run(); }

}  // namespace holter::diagnose
