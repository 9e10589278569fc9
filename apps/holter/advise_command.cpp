// SPDX-License-Identifier: Apache-2.0
#include "advise_command.h"

#include <dirent.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "app.h"
#include "base/log.h"
#include "base/strings.h"
#include "diagnose/diagnose.h"
#include "inputs.h"
#include "output.h"
#include "report/advice.h"
#include "report/from_json.h"

namespace holter::app {

namespace flags = base::flags;
namespace log = base::log;

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool exists(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0;
}

// The newest folder here that `holter collect --slurm JOB` made: names end in the time.
std::string collected_folder(const std::string& job) {
  std::string newest;
  DIR* here = ::opendir(".");
  while (const dirent* entry = here ? ::readdir(here) : nullptr) {
    const std::string name(entry->d_name);
    if (name.starts_with("holter-slurm_" + job + "-") && name > newest) newest = name;
  }
  if (here) ::closedir(here);
  return newest;
}

// A saved report, when the argument is one.
base::Result<model::Report> saved_report(const std::string& path, bool& is_report) {
  std::ifstream file(path, std::ios::binary);
  std::string text(200, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  is_report = report::is_report_json(text);
  if (!is_report) return model::Report{};
  text.append(std::istreambuf_iterator<char>(file), {});
  return report::from_json(text);
}

report::AdviceFormat format_of(std::string_view name) {
  if (name == "slurm") return report::AdviceFormat::kSlurm;
  if (name == "k8s") return report::AdviceFormat::kKubernetes;
  if (name == "torchrun") return report::AdviceFormat::kTorchrun;
  return name == "json" ? report::AdviceFormat::kJson : report::AdviceFormat::kText;
}

int exit_code(const report::Advice& advice) {
  switch (advice.course) {
    case report::Course::kRestart: return kOk;
    case report::Course::kDoNotRestart: return kFault;
    case report::Course::kUndecided: return kGap;
  }
  return kGap;
}

int print(const model::Report& from, const flags::Parsed& parsed, const std::string& job) {
  const auto advice = report::advise(from);
  for (const auto& name : advice.refused_nodes) log::warn("left out, no host name: {}", name);
  const int written = write_data(report::to_text(advice, format_of(parsed.get("format")), job));
  return written == kOk ? exit_code(advice) : written;
}

int run_advise(const flags::Parsed& parsed) {
  std::string job(parsed.get("job"));
  if (!job.empty() && !is_number(job)) {
    log::error("--job takes a Slurm job id, not '{}'", base::printable(job));
    return kUsage;
  }
  const auto& arguments = parsed.arguments();
  if (arguments.size() == 1 && is_number(arguments[0]) && !exists(arguments[0])) {
    const auto folder = collected_folder(arguments[0]);
    if (folder.empty()) {
      log::error("nothing was collected of job {} in this folder", arguments[0]);
      log::hint("holter collect --slurm {}", arguments[0]);
      return kUsage;
    }
    log::info("from {}", folder);
    return run({"advise", folder, "--job", arguments[0], "--format", std::string(parsed.get("format"))});
  }
  if (arguments.size() == 1) {
    bool is_report = false;
    const auto saved = saved_report(arguments[0], is_report);
    if (is_report && !saved) {
      log::error("{}: {}", arguments[0], saved.error().to_string());
      return kUsage;
    }
    if (is_report) return print(*saved, parsed, job);
  }
  Material material;
  if (const int failed = read_material(parsed, material); failed != kOk) return failed;
  return print(diagnose::diagnose(material.evidence, material.rules), parsed, job);
}

}  // namespace

Command advise_command() {
  flags::Command spec{.name = "advise", .summary = "what to do with the job now: restart or not, without which nodes"};
  spec.description =
      "Takes a saved report (holter diagnose -o json), the evidence itself, or the id of a Slurm job whose evidence was "
      "collected in this folder, and prints what a person or a requeue script does next. It never restarts anything.\n\n"
      "slurm: scontrol lines. k8s: a patch with a node affinity. torchrun: assignments for a launch script. Everything "
      "that is not for the shell is a comment; names that are no host names never reach a command.\n\n"
      "Exit status: 0 restart (HOLTER_EVIDENCE_FIRST or the comments say what to save before), 1 do not restart, 3 not "
      "decided.";
  spec.positional = {.name = "REPORT|PATH|JOBID",
                     .required = true,
                     .many = true,
                     .value = flags::Value::kFile,
                     .help = "a report, evidence, or a Slurm job id"};
  spec.flags = {{.name = "format",
                 .letter = 'o',
                 .argument = "FORMAT",
                 .choices = {"text", "slurm", "k8s", "torchrun", "json"},
                 .fallback = "text",
                 .help = "for whom"},
                {.name = "json", .means = "format=json", .help = "the same as -o json"},
                {.name = "job", .argument = "ID", .help = "job id for the scontrol lines; default: $SLURM_JOB_ID"}};
  for (auto& flag : input_flags()) {
    if (flag.name != "share") spec.flags.push_back(std::move(flag));
  }
  spec.examples = {{"holter advise 88123 --format slurm", "the requeue line for a job that was collected here"},
                   {"holter advise report.json", "from a saved report, for people"},
                   {"holter advise evidence/ -o torchrun > advice && . ./advice", "in a launch script"}};
  return {spec, run_advise};
}

}  // namespace holter::app
