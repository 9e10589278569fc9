// SPDX-License-Identifier: Apache-2.0
#include "formats/logs/exit_parser.h"

#include <optional>

#include "base/strings.h"
#include "formats/logs/pattern.h"
#include "formats/text/stance.h"

namespace holter::formats::logs {

namespace {

using text::Line;

constexpr std::uint64_t kDetailLines = 12;  // after "ActorDiedError", or of a torchrun failure entry

// A report that spans lines, being filled.
struct Pending {
  model::Event event;
  std::uint64_t until = 0;
  bool ray = false;
};

class ExitParser final : public text::LineParser {
 public:
  std::vector<std::string_view> triggers() const override {
    return {"exitcode",
            "exit code",
            "exited with",
            "Exited with",
            "Killed",
            "killed by signal",
            "return code",
            "oom_kill",
            "oom-kill event",
            "CANCELLED AT",
            "CANCELLED",
            "ActorDiedError",
            "WorkerCrashedError",
            "NodeDiedError",
            "OOMKilled",
            "Evicted",
            "Preempted",
            "Preempting",
            "received signal",
            "Signal 15",
            "died with <Signals",
            "exits with return",
            "Exit status",
            "SIGKILL",
            "SIGTERM",
            "SIGSEGV",
            "exit status",
            "Out Of Memory",
            "(local_rank: ",
            "host      : "};
  }
  bool wants_all() const override { return pending_.has_value(); }
  std::string_view format() const override { return "training-log"; }

  void on_line(const Line& line, FileContext context, model::Evidence& out) override {
    if (pending_) {
      if (line.number <= pending_->until && detail(line, out)) return;
      if (line.number > pending_->until) flush(out);
    }
    if (table_host_line_.match(line.body)) {
      table_host_ = table_host_line_[0];
      return;
    }
    if (table_rank_line_.match(line.body)) {
      table_rank_ = static_cast<std::int32_t>(table_rank_line_.number(0));
      table_local_ = table_rank_line_[1];
      table_line_ = line.number;
      return;
    }
    if (text::stance_of(line.body) == text::Stance::kDenies) return;
    slurm(line, context, out) || kubernetes(line, context, out) || ray(line, context, out) ||
        launchers(line, context, out);
  }
  void on_end(FileContext, model::Evidence& out) override { flush(out); }

 private:
  model::Event start(std::string_view tool, std::string_view how, const Line& line, FileContext context,
                     model::Evidence& out) {
    auto e = text::event("exit", line, context, out);
    add_field(e, out, "tool", tool);
    add_field(e, out, "how", how);
    return e;
  }
  void flush(model::Evidence& out) {
    if (pending_) out.events.push_back(std::move(pending_->event));
    pending_.reset();
  }
  void set_code(model::Event& e, model::Evidence& out, std::string_view code) {
    const auto n = base::to_int<int>(code);
    if (!n) return;
    add_field(e, out, "exitcode", code);
    const int number = *n < 0 ? -*n : *n > 128 && *n < 160 ? *n - 128 : 0;
    if (number > 0) add_field(e, out, "signal", std::to_string(number));
  }

  bool slurm(const Line& line, FileContext context, model::Evidence& out) {
    if (step_cancel_.match(line.body)) {
      const auto why = step_cancel_[1];
      const std::string_view how = why.find("PREEMPT") != std::string_view::npos      ? "preempted"
                                   : why.find("TIME LIMIT") != std::string_view::npos ? "time_limit"
                                   : why.find("NODE FAIL") != std::string_view::npos  ? "node_failure"
                                                                                      : "cancelled";
      auto e = start("slurm", how, line, context, out);
      host(e, out, step_cancel_[0]);
      out.events.push_back(std::move(e));
      return true;
    }
    if (srun_task_.match(line.body)) {
      const bool killed = srun_task_[2].find("illed") != std::string_view::npos;
      auto e = start("slurm", killed ? "signal" : "exitcode", line, context, out);
      host(e, out, srun_task_[0]);
      add_field(e, out, "task", srun_task_[1]);
      if (srun_task_[2] == "Killed") add_field(e, out, "signal", "9");
      set_code(e, out, srun_task_[3]);
      out.events.push_back(std::move(e));
      return true;
    }
    if (!slurm_oom_.match(line.body)) return false;
    out.events.push_back(start("slurm", "oom_kill", line, context, out));
    return true;
  }

  bool kubernetes(const Line& line, FileContext context, model::Evidence& out) {
    const auto has = [&](std::string_view part) { return line.body.find(part) != std::string_view::npos; };
    std::string_view how;
    if (has("OOMKilled")) how = "oom_kill";
    else if (has("Evicted") || has("Evicting pod")) how = "evicted";
    else if (has("Preempted by") || has("reason: Preempt") || (has("Preempting") && has("pod"))) how = "preempted";
    else return false;
    auto e = start("kubernetes", how, line, context, out);
    if (pod_.match(line.body)) add_field(e, out, "pod", pod_[0]);
    out.events.push_back(std::move(e));
    return true;
  }

  bool ray(const Line& line, FileContext context, model::Evidence& out) {
    const auto has = [&](std::string_view part) { return line.body.find(part) != std::string_view::npos; };
    if (!has("ActorDiedError") && !has("WorkerCrashedError") && !has("NodeDiedError")) return false;
    flush(out);
    pending_ = Pending{start("ray", "actor_died", line, context, out), line.number + kDetailLines, true};
    // The actor that prints it is not the one that died.
    pending_->event.pid = -1;
    pending_->event.node = model::StrId::kEmpty;
    pending_->event.rank = model::GlobalRank::kNone;
    return true;
  }

  bool launchers(const Line& line, FileContext context, model::Evidence& out) {
    Pattern* m = torchrun_.match(line.body) ? &torchrun_ : elastic_entry_.match(line.body) ? &elastic_entry_ : nullptr;
    if (m == &torchrun_) {
      const auto code = torchrun_[0];
      auto e = start("torchrun", code.starts_with('-') ? "signal" : "exitcode", line, context, out);
      set_code(e, out, code);
      add_field(e, out, "local_rank", torchrun_[1]);
      e.pid = static_cast<std::int32_t>(torchrun_.number(2));
      out.events.push_back(std::move(e));
      return true;
    }
    if (m == &elastic_entry_) {  // "  exitcode  : -9 (pid: 8120)" of the failure table
      auto e = start("torchrun", elastic_entry_[0].starts_with('-') ? "signal" : "exitcode", line, context, out);
      set_code(e, out, elastic_entry_[0]);
      e.pid = static_cast<std::int32_t>(elastic_entry_.number(1));
      if (table_rank_ >= 0 && line.number <= table_line_ + kDetailLines) {
        e.rank = model::GlobalRank{table_rank_};
        add_field(e, out, "local_rank", table_local_);
        host(e, out, table_host_);
      }
      out.events.push_back(std::move(e));
      return true;
    }
    if (deepspeed_.match(line.body)) {
      auto e = start("deepspeed", "exitcode", line, context, out);
      e.pid = static_cast<std::int32_t>(deepspeed_.number(0));
      set_code(e, out, deepspeed_[1]);
      out.events.push_back(std::move(e));
      return true;
    }
    if (python_.match(line.body)) {
      auto e = start("accelerate", "signal", line, context, out);
      add_field(e, out, "signal", signal_number(python_[0]));
      out.events.push_back(std::move(e));
      return true;
    }
    if (mpi_.match(line.body)) {
      auto e = start("mpi", "signal", line, context, out);
      e.rank = model::GlobalRank{static_cast<std::int32_t>(mpi_.number(0))};
      e.pid = static_cast<std::int32_t>(mpi_.number(1));
      host(e, out, mpi_[2]);
      add_field(e, out, "signal", mpi_[3]);
      out.events.push_back(std::move(e));
      return true;
    }
    if (worker_.match(line.body)) {
      auto e = start("vllm", "exitcode", line, context, out);
      set_code(e, out, worker_[0]);
      out.events.push_back(std::move(e));
      return true;
    }
    return false;
  }

  // Detail lines of an open Ray report.
  bool detail(const Line& line, model::Evidence& out) {
    auto& e = pending_->event;
    if (!key_value_.match(line.body)) {
      if (line.body.find("exit detail") != std::string_view::npos ||
          line.body.find("exit type") != std::string_view::npos) {
        if (exit_type_.match(line.body)) add_field(e, out, "exit_type", exit_type_[0]);
        e.line_count = static_cast<std::uint32_t>(line.number - e.at.pos + 1);
        flush(out);
        return true;
      }
      return false;
    }
    const auto key = key_value_[0], text = key_value_[1];
    if (key == "pid") e.pid = base::to_int<std::int32_t>(text).value_or(-1);
    else if (key == "ip") host(e, out, text);
    else if (key == "class_name" || key == "actor_id" || key == "name") add_field(e, out, key, text);
    e.line_count = static_cast<std::uint32_t>(line.number - e.at.pos + 1);
    return true;
  }

  void host(model::Event& e, model::Evidence& out, std::string_view name) {
    if (name.empty()) return;
    add_field(e, out, "host", name);
    e.node = out.intern(name);
  }

  static std::string_view signal_number(std::string_view name) {
    if (name == "SIGKILL") return "9";
    if (name == "SIGSEGV") return "11";
    if (name == "SIGABRT") return "6";
    if (name == "SIGTERM") return "15";
    if (name == "SIGBUS") return "7";
    return "";
  }

  std::optional<Pending> pending_;
  std::int32_t table_rank_ = -1;
  std::uint64_t table_line_ = 0;
  std::string table_host_, table_local_;

  Pattern step_cancel_{R"((?:JOB|STEP) \S+ (?:ON (\S+) )?CANCELLED AT \S+(.*))"};
  Pattern srun_task_{
      R"(srun: error: ([^\s:]+): tasks? ([\d,-]+): (Killed|Exited with exit code (\d+)|[A-Z][a-z ]+(?:\(core dumped\))?))"};
  Pattern slurm_oom_{R"(slurmstepd: error: Detected (\d+) oom[_-]kill event|oom_kill event|task \d+: Out Of Memory)"};
  Pattern pod_{R"(pod[/ ]["']?([\w.-]+(?:/[\w.-]+)?))"};
  Pattern torchrun_{R"(failed \(exitcode: (-?\d+)\) local_rank: (\d+) \(pid: (\d+)\))"};
  // torchrun's failure table names host and rank in the lines before the exit code.
  Pattern table_host_line_{R"(^\s*host\s+: (\S+)\s*$)"};
  Pattern table_rank_line_{R"(^\s*rank\s+: (\d{1,9}) \(local_rank: (\d{1,9})\))"};
  Pattern elastic_entry_{R"(^\s*exitcode\s*: (-?\d+) \(pid: (\d+)\))"};
  Pattern deepspeed_{R"(Process (\d+) exits with return code = (-?\d+))"};
  Pattern python_{R"(died with <Signals\.(SIG[A-Z]+): \d+>)"};
  Pattern mpi_{R"(rank (\d+) with PID (\d+) on node (\S+) exited on signal (\d+))"};
  Pattern worker_{R"(\[multiproc_executor\.py:\d+\].*exit(?:ed with)? code[ :=]+(-?\d+))"};
  Pattern key_value_{R"(^\s+(\w+): (\S+)\s*$)"};
  Pattern exit_type_{R"([Ww]orker exit type: (\w+))"};
};

}  // namespace

std::unique_ptr<text::LineParser> make_exit_parser() { return std::make_unique<ExitParser>(); }

}  // namespace holter::formats::logs
