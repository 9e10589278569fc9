// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include <unistd.h>

#include "base/log.h"
#include "base/parallel.h"
#include "command.h"
#include "evidence/read.h"
#include "progress.h"
#include "user_rules.h"

namespace holter::app {

namespace flags = base::flags;
namespace log = base::log;
using base::Code;
using base::fail;

namespace {

int thread_count(const flags::Parsed& parsed) {
  if (const int asked = parsed.number("jobs"); asked > 0) return asked;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 64U));
}

base::Result<model::Evidence> read_evidence(const std::vector<std::string>& paths, const model::Rules& rules,
                                            const flags::Parsed& parsed) {
  Progress progress(isatty(STDERR_FILENO) == 1 && !parsed.has("quiet"));
  evidence::Options options;
  options.executor = base::thread_executor(thread_count(parsed));
  options.progress = [&](std::size_t done, std::size_t known) { progress.update(done, known); };
  return evidence::read(paths, rules, options);
}

bool anything_read(const model::Evidence& evidence) {
  return std::any_of(evidence.files.begin(), evidence.files.end(),
                     [](const auto& f) { return f.status != model::FileStatus::kUnread; });
}

// Each file with its reason, up to a screen of them.
void say_why_unread(const model::Evidence& evidence) {
  static constexpr std::size_t kShown = 12;
  std::size_t shown = 0;
  for (const auto& file : evidence.files) {
    if (file.status != model::FileStatus::kUnread || ++shown > kShown) continue;
    log::error("{}: {}", file.path, file.note.empty() ? "not read" : file.note);
  }
  if (shown > kShown) log::error("and {} more", shown - kShown);
}

int no_input(std::string_view why) {
  log::error("{}", why);
  log::hint("give files, folders or archives of a job: Flight Recorder dumps, logs, stacks, dmesg, nvidia-smi -q");
  return kUsage;
}

}  // namespace

base::Result<bool> Inputs::prepare(const std::vector<std::string>& arguments) {
  bool used_stdin = false;
  for (const auto& path : arguments) {
    if (path == "-") {
      if (std::exchange(used_stdin, true))
        return fail(Code::kInvalid, "'-' is there twice; standard input is read once");
      if (::isatty(STDIN_FILENO) == 1)
        return fail(Code::kInvalid, "standard input is the keyboard; pipe a log into it");
      paths_.push_back(path);
      continue;
    }
    if (::access(path.c_str(), R_OK) == 0) {
      paths_.push_back(path);
    } else if (errno == EACCES) {
      log::error("may not read {}", path);
      refused_ = true;
    } else {
      return fail(Code::kNotFound, path + ": " + std::strerror(errno));
    }
  }
  if (paths_.empty()) return fail(Code::kPermission, "none of the paths may be read by this user");
  return true;
}

flags::Positional input_paths() {
  return {.name = "PATH",
          .required = true,
          .many = true,
          .value = flags::Value::kFile,
          .help = "file, folder or archive; - is standard input"};
}

std::vector<flags::Flag> input_flags() {
  return {
      {.name = "share", .help = "replace names of hosts, users, jobs and files, addresses and secrets by placeholders"},
      {.name = "rules",
       .argument = "DIR",
       .value = flags::Value::kFolder,
       .env = "HOLTER_RULES",
       .help = "folder whose files replace or extend the built-in rules"},
      {.name = "jobs",
       .letter = 'j',
       .argument = "N",
       .value = flags::Value::kNumber,
       .fallback = "0",
       .env = "HOLTER_JOBS",
       .help = "threads that read; 0 is one a core"},
  };
}

int read_material(const flags::Parsed& parsed, Material& out) {
  auto rules = load_rules(std::string(parsed.get("rules")));
  if (!rules) {
    log::error("--rules: {}", rules.error().to_string());
    return kUsage;
  }
  out.rules = std::move(*rules);
  if (const auto ready = out.inputs.prepare(parsed.arguments()); !ready) return no_input(ready.error().to_string());
  auto evidence = read_evidence(out.inputs.paths(), out.rules, parsed);
  if (!evidence) return no_input(evidence.error().to_string());
  if (!anything_read(*evidence)) {
    say_why_unread(*evidence);
    return no_input("nothing there could be read");
  }
  out.evidence = std::move(*evidence);
  return kOk;
}

}  // namespace holter::app
