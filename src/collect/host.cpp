// SPDX-License-Identifier: Apache-2.0
#include "collect/host.h"

#include <glob.h>

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "base/strings.h"
#include "collect/process.h"
#include "collect/ras.h"
#include "collect/redact.h"
#include "collect/run_item.h"

namespace holter::collect {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto kRasDeadline = milliseconds(8000);
constexpr std::size_t kRasBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxFiles = 4000;  // of one pattern
constexpr std::string_view kDefaultRas = "localhost:28028";
const base::SystemClock kNow;

// "==> NAME <==\nVALUE\n" of many one-line files becomes "NAME: VALUE"; longer files keep their title.
std::string folded(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto next = text.find("\n==> ", 1);
    auto block = text.substr(0, next == std::string_view::npos ? text.size() : next + 1);
    text.remove_prefix(block.size());
    block = base::trim(block);
    const auto head = block.find(" <==\n");
    if (!block.starts_with("==> ") || head == std::string_view::npos) {
      out.append(block).append("\n");
      continue;
    }
    const auto body = base::trim(block.substr(head + 5));
    if (body.find('\n') == std::string_view::npos) out += fmt::format("{}: {}\n", block.substr(4, head - 4), body);
    else out.append(block).append("\n\n");
  }
  return out;
}

std::vector<std::string> files_of(const Take& take, const std::string& root) {
  std::vector<std::string> out;
  for (const auto& pattern : take.files) {
    glob_t found{};
    if (::glob((root + pattern).c_str(), GLOB_BRACE | GLOB_NOSORT, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc && out.size() < kMaxFiles; ++i) out.emplace_back(found.gl_pathv[i]);
    }
    ::globfree(&found);
  }
  std::sort(out.begin(), out.end());
  return out;
}

class HostCollection {
 public:
  HostCollection(const std::vector<Item>& items, const HostOptions& options, Sink& sink)
      : items_(items), options_(options), sink_(sink), deadline_(Clock::now() + options.deadline) {}

  base::Result<HostManifest> run() {
    manifest_.host = options_.name;
    manifest_.version = options_.version;
    manifest_.started = kNow.now();
    find_processes();
    ras();
    processes();
    for (const auto& item : items_) take(item);
    each([](ProcessEvidence& p) { p.settings(); });
    each([](ProcessEvidence& p) { p.logs(); });
    manifest_.ended = kNow.now();
    if (!trouble_) return base::fail(base::Code::kUnavailable, trouble_.error().to_string());
    if (auto done = sink_.add("manifest.json", to_json(manifest_), manifest_.ended); !done)
      return tl::unexpected(done.error());
    if (auto done = sink_.finish(); !done) return tl::unexpected(done.error());
    return std::move(manifest_);
  }

 private:
  milliseconds left() const { return std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()); }

  void keep(Record record, std::string_view data, base::UnixNs modified) {
    const std::lock_guard lock(mutex_);
    record.bytes = data.size();
    if (data.empty() && record.status != Status::kTaken) record.file.clear();
    if (!data.empty() && !record.file.empty()) {
      record.file = unused(safe_name(record.file));
      if (auto done = sink_.add(record.file, data, modified); !done && trouble_) trouble_ = std::move(done);
    }
    if (options_.progress) options_.progress(record);
    manifest_.records.push_back(std::move(record));
  }
  std::string unused(const std::string& name) {
    std::string out = name;
    for (int n = 2; std::any_of(manifest_.records.begin(), manifest_.records.end(),
                                [&](const Record& r) { return r.file == out; });
         ++n)
      out = safe_name(fmt::format("{}.{}", name.substr(0, 90), n));
    return out;
  }

  void find_processes() {
    std::size_t unreadable = 0;
    found_ = platform::find_job_processes(options_.root, options_.processes, &unreadable);
    Record record{.item = "processes", .started = manifest_.started};
    if (unreadable > 0) {
      record.status = Status::kRefused;
      record.detail = fmt::format("{} processes of other users cannot be looked at", unreadable);
    }
    if (found_.empty()) {
      if (record.status == Status::kTaken) record.status = Status::kMissing;
      record.detail += record.detail.empty() ? "no process of a job here" : "; no process of a job among the others";
    }
    keep(std::move(record), "", 0);
    process_options_ = {.root = options_.root, .deadline = deadline_, .log_tail = options_.log_tail};
    for (const auto& p : found_) {
      manifest_.processes.push_back({p.pid, p.rank.value_or(-1), p.state, p.started_ns, p.command});
      evidence_.emplace_back(p, process_options_, [this](Record r, std::string data, base::UnixNs modified) {
        keep(std::move(r), data, modified);
      });
    }
  }

  void ras() {
    if (!options_.ask_ras || found_.empty()) return;
    std::string address(kDefaultRas);
    for (const auto& [name, value] : found_.front().environment) {
      if (name == "NCCL_RAS_ADDR" && !value.empty()) address = value;
    }
    Record record{.item = "nccl_ras", .file = "nccl-ras.txt", .started = kNow.now()};
    const auto from = Clock::now();
    auto reply = ask_ras(address, std::min(left(), kRasDeadline), kRasBytes);
    record.took_ms = std::chrono::duration_cast<milliseconds>(Clock::now() - from).count();
    if (!reply) {
      record.status = reply.error().code() == base::Code::kNotFound ? Status::kMissing : Status::kTimeout;
      record.detail = reply.error().to_string();
      reply = std::string();
    }
    keep(std::move(record), *reply, kNow.now());
  }

  template <typename Do>
  void each(Do act) {
    const auto task = [&](std::size_t i) {
      if (left().count() > 0) act(evidence_[i]);
    };
    if (options_.executor) return options_.executor(evidence_.size(), task);
    for (std::size_t i = 0; i < evidence_.size(); ++i) task(i);
  }
  void processes() {
    each([](ProcessEvidence& p) { p.trigger_flight_recorder(); });
    each([](ProcessEvidence& p) { p.stacks(); });  // while the dumps are written
    each([](ProcessEvidence& p) { p.flight_recorder(); });
  }

  void take(const Item& item) {
    Record record{.item = item.name};
    for (const auto& take : item.takes) {
      record = {.item = item.name, .file = take.file, .started = kNow.now()};
      const auto deadline = std::min(left(), take.deadline);
      if (deadline.count() <= 0) {
        record.status = Status::kSkipped;
        record.detail = "the time was up";
        break;
      }
      auto argv = take.command;
      if (argv.empty()) {
        const auto files = files_of(take, options_.root);
        if (files.empty()) {
          record.status = Status::kMissing;
          record.detail = take.text() + ": no such file";
          continue;
        }
        argv = {"tail", "-v", "-n", "+1", "--"};
        argv.insert(argv.end(), files.begin(), files.end());
      }
      auto data = run_item(argv, deadline, take.max_bytes, record);
      if (take.command.empty()) {
        data = folded(data);
        // Some files of /sys cannot be read in some states (the speed of a link that is down): the others count.
        if (record.status == Status::kFailed && !data.empty()) record.status = Status::kTaken;
      }
      // What a command printed before it failed is kept, unless another one may do better.
      const bool good = record.status == Status::kTaken || record.status == Status::kCut;
      if (good || (&take == &item.takes.back() && !data.empty())) {
        return keep(std::move(record), without_secrets(data), kNow.now());
      }
    }
    keep(std::move(record), "", 0);
  }

  const std::vector<Item>& items_;
  const HostOptions& options_;
  Sink& sink_;
  const Clock::time_point deadline_;
  std::mutex mutex_;
  HostManifest manifest_;
  base::Result<bool> trouble_ = true;
  std::vector<platform::JobProcess> found_;
  ProcessOptions process_options_;
  std::vector<ProcessEvidence> evidence_;
};

}  // namespace

base::Result<HostManifest> collect_host(const std::vector<Item>& items, const HostOptions& options, Sink& sink) {
  return HostCollection(items, options, sink).run();
}

std::vector<std::string> plan_host(const std::vector<Item>& items, const HostOptions& options) {
  std::vector<std::string> out;
  if (options.ask_ras)
    out.push_back("ask NCCL RAS at NCCL_RAS_ADDR of the job, else localhost:28028 (once for the job)");
  out.push_back(
      "for each process of the job: one byte into the pipe of its Flight Recorder (TORCH_NCCL_DEBUG_INFO_PIPE_FILE)");
  out.push_back("for each process of the job: read /proc/PID/task/*/{stat,wchan,stack}");
  out.push_back("for each process without a thread in state D: py-spy dump --nonblocking --pid PID; eu-stack -p PID");
  out.push_back("for each process of the job: read its Flight Recorder dump (TORCH_FR_DUMP_TEMP_FILE)");
  for (const auto& item : items) {
    std::string alternatives;
    for (const auto& take : item.takes) alternatives += (alternatives.empty() ? "" : "  or  ") + take.text();
    out.push_back(std::move(alternatives));
  }
  out.push_back(
      "for each process of the job: its environment (allow-list), /proc/PID/{limits,status}, counters of its cgroup");
  out.push_back(fmt::format("for each process of the job: tail -c {} of the files of its standard output and error",
                            options.log_tail));
  return out;
}

}  // namespace holter::collect
