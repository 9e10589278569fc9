// SPDX-License-Identifier: Apache-2.0
#include "diagnose_command.h"

#include <cstdlib>

#include "base/clock.h"
#include "base/log.h"
#include "base/terminal.h"
#include "diagnose/diagnose.h"
#include "evidence/context.h"
#include "inputs.h"
#include "output.h"
#include "report/exit_status.h"
#include "report/report.h"
#include "report/share.h"

namespace holter::app {

namespace flags = base::flags;
namespace log = base::log;

namespace {

// The format asked for, or the one that the name of the output file asks for.
std::string_view format_of(const flags::Parsed& parsed) {
  const std::string_view file = parsed.get("output");
  if (!parsed.has("format")) {
    for (const std::string_view format : {"json", "md", "html"}) {
      if (file.ends_with("." + std::string(format))) return format;
    }
  }
  return parsed.get("format");
}

std::string text_of(const model::Report& report, const flags::Parsed& parsed) {
  const bool to_file = parsed.has("output");
  const auto when = parsed.get("color");
  const auto mode = when == "always"  ? base::ColourMode::kAlways
                    : when == "never" ? base::ColourMode::kNever
                                      : base::ColourMode::kAuto;
  const auto terminal = base::inspect(stdout, mode, ::getenv);
  report::TextOptions options;
  options.full = parsed.has("full");
  options.colour = terminal.colour && (!to_file || mode == base::ColourMode::kAlways);
  options.unicode = terminal.unicode;
  if (terminal.width > 0 && !to_file) options.width = terminal.width;
  return report::to_text(report, options);
}

std::string render(const model::Report& report, const flags::Parsed& parsed) {
  const auto format = format_of(parsed);
  if (format == "json") return report::to_json(report) + "\n";
  if (format == "md") return report::to_markdown(report);
  return format == "html" ? report::to_html(report) : text_of(report, parsed);
}

int emit(const std::string& text, const flags::Parsed& parsed) {
  const std::string file(parsed.get("output"));
  if (file.empty()) return write_data(text);
  const auto written = write_file(file, text);
  if (written) return kOk;
  log::error("cannot write the report: {}", written.error().to_string());
  return kUnavailable;
}

int run_diagnose(const flags::Parsed& parsed) {
  Material material;
  if (const int failed = read_material(parsed, material); failed != kOk) return failed;
  auto report = diagnose::diagnose(material.evidence, material.rules);
  report.tool_version = HOLTER_VERSION;
  if (!parsed.has("reproducible")) report.created_ns = base::SystemClock().now();
  evidence::add_context(report, material.inputs.paths());
  if (parsed.has("share")) report::scrub(report);
  if (const int failed = emit(render(report, parsed), parsed); failed != kOk) return failed;
  if (material.inputs.refused()) return kUnavailable;
  return report::exit_status(report, *model::parse_severity(parsed.get("fail-on")));
}

}  // namespace

Command diagnose_command() {
  flags::Command spec{.name = "diagnose", .summary = "find the cause in the files that a job left"};
  spec.description =
      "Reads every file below the given paths, finds formats by content (gzip, xz, zstd and tar are opened), "
      "joins them to one picture of the job, and prints a report: the verdict, the culprit, the lines that "
      "show it, what to do, and what is missing. Files in unknown formats are searched as text.\n\n"
      "Missing evidence is reported, never assumed. The exit status says what was found.";
  spec.positional = input_paths();
  spec.flags = {
      {.name = "format",
       .letter = 'o',
       .argument = "FORMAT",
       .choices = {"text", "json", "md", "html"},
       .fallback = "text",
       .env = "HOLTER_FORMAT",
       .help = "output format"},
      {.name = "json", .means = "format=json", .help = "the same as -o json"},
      {.name = "output",
       .letter = 'f',
       .argument = "FILE",
       .value = flags::Value::kFile,
       .help = "write the report to a file; without -o its ending decides the format"},
      {.name = "full", .help = "text: everything, not only the first screen"},
      {.name = "fail-on",
       .argument = "SEVERITY",
       .choices = {"info", "application", "degraded", "gpu_fatal", "node_fatal", "replace"},
       .fallback = "application",
       .env = "HOLTER_FAIL_ON",
       .help = "least severity that makes the exit status 1"},
      {.name = "reproducible", .help = "leave out the time of the report, so that equal input gives equal bytes"},
  };
  for (auto& flag : input_flags()) spec.flags.push_back(std::move(flag));
  spec.examples = {{"holter diagnose /shared/run42/", "everything that a job left in a folder"},
                   {"holter diagnose dumps.tar.zst node7.dmesg -o json | jq .verdict", "for a program"},
                   {"kubectl logs trainer-0 | holter diagnose -", "a log from standard input"}};
  return {spec, run_diagnose};
}

}  // namespace holter::app
