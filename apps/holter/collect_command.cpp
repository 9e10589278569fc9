// SPDX-License-Identifier: Apache-2.0
#include "collect_command.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "app.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/strings.h"
#include "collect/archive.h"
#include "collect/find_targets.h"
#include "collect/folder_sink.h"
#include "collect/host.h"
#include "collect/redact.h"
#include "collect/remote.h"
#include "collect/run_item.h"
#include "diagnose/diagnose.h"
#include "evidence/read.h"
#include "output.h"
#include "report/words.h"
#include "user_rules.h"

namespace holter::app {

namespace flags = base::flags;
namespace log = base::log;
using std::chrono::milliseconds;

namespace {

constexpr int kProcessThreads = 4;
constexpr auto kHeadStart = milliseconds(5000);  // a host ends before the collecting side gives it up
volatile sig_atomic_t interrupted = 0;

bool counter_on_terminal = false;
bool quiet = false;

// How it went, for people.
void say(const std::string& line) {
  if (!quiet) fmt::print(stderr, "holter: {}\n", line);
}

int unusable(const base::Error& error) {
  log::error("{}", error.to_string());
  return error.code() == base::Code::kUnavailable || error.code() == base::Code::kPermission ? kUnavailable : kUsage;
}

// "60s", "2m", "90"; 1 s to 1 h.
base::Result<milliseconds> duration_of(std::string_view text) {
  int unit = 1;
  auto digits = text;
  if (digits.ends_with('m')) unit = 60;
  if (digits.ends_with('m') || digits.ends_with('s')) digits.remove_suffix(1);
  const auto number = base::to_int<int>(digits);
  if (!number || *number < 1 || *number > 3600 / unit)
    return base::fail(base::Code::kInvalid, fmt::format("--deadline takes 1s to 60m, not '{}'", base::printable(text)));
  return milliseconds(*number * unit * 1000);
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

collect::HostOptions host_options(const flags::Parsed& parsed, milliseconds deadline) {
  collect::HostOptions o;
  o.name = host_name();
  o.version = HOLTER_VERSION;
  o.processes.slurm_job = std::string(parsed.get("job"));
  o.deadline = deadline;
  o.ask_ras = !parsed.has("no-ras");
  o.executor = base::thread_executor(kProcessThreads);
  return o;
}

// --- this host ---

int stream_host(const std::vector<collect::Item>& items, const collect::HostOptions& options) {
  collect::ArchiveSink sink([](std::string_view data) {
    while (!data.empty()) {
      const auto done = ::write(STDOUT_FILENO, data.data(), data.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return false;
      data.remove_prefix(static_cast<std::size_t>(done));
    }
    return true;
  });
  const auto done = collect::collect_host(items, options, sink);
  return done ? kOk : unusable(done.error());
}

void tell_item(const collect::Record& r) {
  if (r.status != collect::Status::kRefused && r.status != collect::Status::kTimeout)
    log::info("{}: {}{}", r.item, collect::to_string(r.status), r.detail.empty() ? "" : ", " + r.detail);
  else log::warn("{}: {}, {}", r.item, collect::to_string(r.status), r.detail);
}

int collect_this(const std::vector<collect::Item>& items, collect::HostOptions options, const std::string& folder) {
  options.progress = tell_item;
  collect::FolderSink sink(folder);
  const auto done = collect::collect_host(items, options, sink);
  if (!done) return unusable(done.error());
  const auto taken =
      std::count_if(done->records.begin(), done->records.end(), [](const auto& r) { return r.bytes > 0; });
  say(fmt::format("{} of a job here; {} in {}", report::count_noun(done->processes.size(), "process", "processes"),
                  report::count_noun(static_cast<std::uint64_t>(taken), "file", "files"), folder));
  return kOk;
}

// --- many hosts ---

base::Result<std::string> read_text(const std::string& path) {
  const base::Fd fd(path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return base::fail(base::Code::kNotFound, path + ": " + std::strerror(errno));
  std::string out;
  char buffer[65536];
  for (ssize_t got; (got = ::read(fd.get(), buffer, sizeof buffer)) > 0 && out.size() < (1U << 24);)
    out.append(buffer, static_cast<std::size_t>(got));
  return out;
}

// This very program, to run on hosts that have none of it.
base::Result<std::string> own_program() {
  HOLTER_TRY(const auto raw, read_text("/proc/self/exe"));
  z_stream z{};
  if (::deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return base::fail(base::Code::kInternal, "zlib does not start");
  std::string out(::deflateBound(&z, raw.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
  z.avail_in = static_cast<uInt>(raw.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  ::deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  ::deflateEnd(&z);
  return out;
}

struct Job {
  std::string name;  // "slurm 88123"
  std::string slurm;
  std::vector<collect::Target> targets;
};

base::Result<Job> job_of(const flags::Parsed& parsed, milliseconds deadline) {
  Job job;
  if (const std::string id(parsed.get("slurm")); !id.empty()) {
    HOLTER_TRY(job.targets, collect::slurm_targets(id));
    job.name = "slurm " + id;
    job.slurm = id;
  } else if (const std::string where(parsed.get("k8s")); !where.empty()) {
    HOLTER_TRY(job.targets, collect::kubernetes_targets(where, std::string(parsed.get("container"))));
    job.name = "k8s " + where;
  } else {
    const std::string file(parsed.get("hosts"));
    HOLTER_TRY(const auto text, read_text(file));
    auto hosts = collect::parse_hosts(text);
    if (!hosts) return hosts.error().within(file);
    const int connect = static_cast<int>(std::clamp<std::int64_t>(deadline.count() / 3000, 2, 10));
    for (const auto& host : *hosts)
      job.targets.push_back(collect::over_ssh(host, std::string(parsed.get("ssh")), connect));
    job.name = "hosts " + file;
  }
  return job;
}

std::vector<std::string> remote_arguments(const Job& job, const flags::Parsed& parsed, milliseconds deadline) {
  const auto there = std::max(milliseconds(1000), deadline - kHeadStart);
  std::vector<std::string> out{"collect", "--local", "--stream", fmt::format("--deadline={}s", there.count() / 1000)};
  if (const std::string id = job.slurm.empty() ? std::string(parsed.get("job")) : job.slurm; !id.empty())
    out.push_back("--job=" + id);
  return out;
}

// What the scheduler knows, from here.
void collect_slurm(const std::string& id, collect::FolderSink& sink) {
  const auto job = collect::slurm_job(id);
  if (!job) return log::warn("{}", job.error().to_string());
  const auto now = base::SystemClock().now();
  (void)sink.add("slurm/scontrol-job.txt", job->description, now);
  for (const auto& path : job->logs) {
    collect::Record record;
    const auto text = collect::run_item({"tail", "-c", "4194304", "--", path}, milliseconds(5000), 4 << 20, record);
    if (record.status != collect::Status::kTaken) log::warn("{}: {}", path, record.detail);
    if (!text.empty())
      (void)sink.add(collect::safe_name("slurm/" + path.substr(path.rfind('/') + 1)), collect::without_secrets(text),
                     now);
  }
}

void tell_host(const collect::HostOutcome& h, std::size_t done, std::size_t all) {
  if (h.status == collect::Status::kTaken) log::info("{}: {} KB in {} ms", h.host, h.bytes / 1024, h.took_ms);
  else log::warn("{}: {}, {}", h.host, collect::to_string(h.status), h.detail);
  if (counter_on_terminal) fmt::print(stderr, "\rhosts {}/{}{}", done, all, done == all ? "\n" : "");
}

// How long the job has left, from the first archives that show it: the watchdog does not wait for the slow hosts.
class TimeLeft {
 public:
  TimeLeft(const model::Rules& rules, std::string folder) : rules_(rules), folder_(std::move(folder)) {}

  void look(const collect::HostOutcome& h) {
    if (told_ || tries_ >= kTries || h.status != collect::Status::kTaken || h.bytes > kMaxBytes) return;
    ++tries_;
    const auto evidence = evidence::read({folder_ + "/" + h.file}, rules_, {});
    if (!evidence) return;
    auto report = diagnose::diagnose(*evidence, rules_);
    report.created_ns = base::SystemClock().now();
    const auto text = report::deadline_text(report);
    if (text.empty()) return;
    told_ = true;
    say(text);
  }

 private:
  static constexpr int kTries = 3;
  static constexpr std::uint64_t kMaxBytes = 16U << 20;

  const model::Rules& rules_;
  std::string folder_;
  int tries_ = 0;
  bool told_ = false;
};

class CatchSignals {
 public:
  CatchSignals() {
    struct sigaction action{};
    action.sa_handler = [](int signal) { interrupted = signal; };
    ::sigaction(SIGINT, &action, &interrupt_);
    ::sigaction(SIGTERM, &action, &terminate_);
  }
  ~CatchSignals() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGTERM, &terminate_, nullptr);
  }
  CatchSignals(const CatchSignals&) = delete;
  CatchSignals& operator=(const CatchSignals&) = delete;

 private:
  struct sigaction interrupt_{}, terminate_{};
};

int collect_job(const Job& job, const flags::Parsed& parsed, const model::Rules& rules, milliseconds deadline,
                const std::string& folder) {
  auto program = own_program();
  if (!program) return unusable(program.error());
  collect::RemoteOptions options;
  options.folder = folder + "/hosts";
  options.program = std::move(*program);
  options.arguments = remote_arguments(job, parsed, deadline);
  options.other_arguments = {"--no-ras"};
  options.parallel = static_cast<std::size_t>(std::clamp(parsed.number("parallel"), 1, 512));
  options.deadline = deadline;
  TimeLeft left(rules, options.folder);
  options.progress = [&](const collect::HostOutcome& h, std::size_t done, std::size_t all) {
    tell_host(h, done, all);
    left.look(h);
  };
  options.stop = [] { return interrupted != 0; };
  if (const auto made = collect::make_folder(options.folder); !made) return unusable(made.error());

  collect::JobManifest manifest{.job = job.name, .version = HOLTER_VERSION, .started = base::SystemClock().now()};
  {
    const CatchSignals caught;
    manifest.hosts = collect::collect_remote(job.targets, options);
  }
  manifest.ended = base::SystemClock().now();
  collect::FolderSink sink(folder);
  if (!job.slurm.empty() && interrupted == 0) collect_slurm(job.slurm, sink);
  if (const auto done = sink.add("manifest.json", to_json(manifest), manifest.ended); !done)
    return unusable(done.error());
  const auto good = std::count_if(manifest.hosts.begin(), manifest.hosts.end(),
                                  [](const auto& h) { return h.status == collect::Status::kTaken; });
  say(fmt::format("{} of {} hosts in {}", good, manifest.hosts.size(), folder));
  if (interrupted != 0) {
    log::hint("the same command goes on where it was interrupted");
    return 128 + interrupted;
  }
  if (good == 0) {
    log::error("no host gave anything");
    log::hint("try one by hand: {}", fmt::join(job.targets[0].command, " "));
    return kUnavailable;
  }
  return kOk;
}

// --- the command ---

int show_plan(const Job* job, const flags::Parsed& parsed, const std::vector<collect::Item>& items,
              milliseconds deadline) {
  std::string out;
  if (job) {
    const auto script = collect::remote_script(remote_arguments(*job, parsed, deadline));
    for (const auto& target : job->targets)
      out += fmt::format("{}\n", fmt::join(collect::remote_command(target, script), " "));
    out += "with this program on its standard input; there:\n";
  }
  for (const auto& line : collect::plan_host(items, host_options(parsed, deadline))) out += "  " + line + "\n";
  return write_data(out);
}

std::string default_folder(const std::string& job) {
  auto stamp = report::time_text(base::SystemClock().now());
  std::erase_if(stamp, [](char c) { return c == ':' || c == '-'; });
  return collect::safe_name("holter-" + job + "-" + stamp);
}

int run_collect(const flags::Parsed& parsed) {
  quiet = parsed.has("quiet");
  counter_on_terminal = !quiet && ::isatty(STDERR_FILENO) == 1;
  const bool local = parsed.has("local");
  int ways = local ? 1 : 0;
  for (const char* way : {"slurm", "hosts", "k8s"}) ways += parsed.has(way) ? 1 : 0;
  if (ways != 1) {
    log::error("say where the job runs: one of --slurm JOBID, --hosts FILE, --k8s NAMESPACE/SELECTOR, --local");
    return kUsage;
  }
  auto rules = load_rules(std::string(parsed.get("rules")));
  if (!rules) return unusable(rules.error());
  const auto items = collect::host_items(*rules);
  if (!items) return unusable(items.error());
  const auto deadline = duration_of(parsed.get("deadline"));
  if (!deadline) return unusable(deadline.error());
  if (local && parsed.has("stream")) return stream_host(*items, host_options(parsed, *deadline));

  base::Result<Job> job = Job{.name = "local " + host_name(), .slurm = {}, .targets = {}};
  if (!local) job = job_of(parsed, *deadline);
  if (!job) return unusable(job.error());
  if (parsed.has("dry-run")) return show_plan(local ? nullptr : &*job, parsed, *items, *deadline);
  const std::string folder = parsed.has("output") ? std::string(parsed.get("output")) : default_folder(job->name);
  if (const auto made = collect::make_folder(folder); !made) return unusable(made.error());
  const int status = local ? collect_this(*items, host_options(parsed, *deadline), folder)
                           : collect_job(*job, parsed, *rules, *deadline, folder);
  if (status != kOk || parsed.has("no-diagnose")) return status;
  return run({"diagnose", folder});
}

}  // namespace

Command collect_command() {
  flags::Command spec{.name = "collect",
                      .summary = "fetch the evidence of a running job from its hosts, then diagnose it"};
  spec.description =
      "Takes from every host what explains a hang, each thing under a deadline of its own: NCCL RAS, Flight Recorder "
      "dumps, stacks, kernel log, GPUs, port counters, environment, limits, logs. Nothing needs to be installed there: "
      "this program is sent along, runs from a private folder and is removed. Nothing is written elsewhere, and no "
      "process is attached to while it waits for a device or for storage.\n\n"
      "A host that hangs, refuses or is full is part of the evidence. Variables outside an allow-list and secrets stay "
      "on their host. What is taken stands in rules/collect.csv. The same command with the same --output goes on where "
      "it was interrupted. Ends with `holter diagnose` of the folder and its exit status.";
  spec.positional.no_more = "say where the job runs with --slurm, --hosts, --k8s or --local";
  spec.flags = {
      {.name = "slurm", .argument = "JOBID", .help = "the nodes of a running Slurm job, through srun --overlap"},
      {.name = "hosts",
       .argument = "FILE",
       .value = flags::Value::kFile,
       .help = "hosts by ssh, one a line; - is standard input"},
      {.name = "k8s", .argument = "NS/SELECTOR", .help = "the running pods, through kubectl exec; or NS/pod/NAME"},
      {.name = "local", .help = "this host"},
      {.name = "output",
       .letter = 'f',
       .argument = "DIR",
       .value = flags::Value::kFolder,
       .help = "folder for the evidence; default: holter-JOB-TIME here"},
      {.name = "deadline",
       .argument = "TIME",
       .fallback = "60s",
       .env = "HOLTER_COLLECT_DEADLINE",
       .help = "for each host, from its start"},
      {.name = "parallel",
       .argument = "N",
       .value = flags::Value::kNumber,
       .fallback = "32",
       .env = "HOLTER_COLLECT_PARALLEL",
       .help = "hosts at the same time"},
      {.name = "ssh",
       .argument = "COMMAND",
       .fallback = "ssh",
       .env = "HOLTER_SSH",
       .help = "ssh with its options, as in 'ssh -F my.conf -l root'"},
      {.name = "container", .argument = "NAME", .help = "container of the pods"},
      {.name = "job", .argument = "ID", .help = "only processes whose SLURM_JOB_ID is this"},
      {.name = "dry-run", .help = "print every command and do nothing"},
      {.name = "no-diagnose", .help = "only collect"},
      {.name = "no-ras", .help = "do not ask NCCL RAS"},
      {.name = "stream", .help = "with --local: an archive on standard output; used on the hosts"},
      {.name = "rules",
       .argument = "DIR",
       .value = flags::Value::kFolder,
       .env = "HOLTER_RULES",
       .help = "folder whose files replace or extend the built-in rules"},
  };
  spec.examples = {{"holter collect --slurm 88123", "the evidence of all nodes of a job, and the verdict"},
                   {"holter collect --hosts hostfile --deadline 30s --output case7", "through ssh"},
                   {"holter collect --k8s train/app=pretrain-7", "the pods of a job"},
                   {"sudo holter collect --local", "this node alone"},
                   {"holter collect --slurm 88123 --dry-run", "what would be run"}};
  return {spec, run_collect};
}

}  // namespace holter::app
