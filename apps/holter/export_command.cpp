// SPDX-License-Identifier: Apache-2.0
#include "export_command.h"

#include <optional>

#include "base/log.h"
#include "diagnose/diagnose.h"
#include "inputs.h"
#include "output.h"
#include "report/export.h"
#include "report/share.h"

namespace holter::app {

namespace log = base::log;

namespace {

report::Exported write(std::string_view format, const report::ExportInput& input, const report::Sink& sink) {
  if (format == "perfetto") return report::to_perfetto(input, sink);
  return format == "speedscope" ? report::to_speedscope(input, sink) : report::to_folded(input, sink);
}

bool holds_it(std::string_view format, const report::Exported& done) {
  return format == "perfetto" ? done.calls > 0 : done.stacks > 0;
}

int nothing_for(std::string_view format, const report::Exported& done) {
  if (format == "perfetto") {
    log::error("no collectives with times in this input{}; nothing is written",
               done.marks > 0 ? ", only lines of logs" : "");
    log::hint("give the Flight Recorder dumps of all ranks (TORCH_NCCL_TRACE_BUFFER_SIZE, TORCH_NCCL_DUMP_ON_TIMEOUT)");
  } else {
    log::error("no stacks in this input; nothing is written");
    log::hint("give the output of py-spy dump, gdb, eu-stack or faulthandler of the ranks");
  }
  return kGap;
}

int run_export(const base::flags::Parsed& parsed) {
  Material material;
  if (const int failed = read_material(parsed, material); failed != kOk) return failed;
  auto report = diagnose::diagnose(material.evidence, material.rules);
  report.tool_version = HOLTER_VERSION;
  std::optional<report::SharedNames> names;
  if (parsed.has("share")) names.emplace(report);
  report::ExportInput input{material.evidence, material.rules, report, {}};
  if (names) input.show = [&](std::string_view text) { return names->scrub(text); };

  const auto format = parsed.get("to");
  report::Exported done;
  const int status =
      stream_output(std::string(parsed.get("output")), [&](const Take& take) { done = write(format, input, take); });
  if (status != kOk) return status;
  if (done.left_out > 0) log::warn("{} calls or lines are left out: no time, no rank, or too many", done.left_out);
  if (!holds_it(format, done)) return nothing_for(format, done);
  return material.inputs.refused() ? kUnavailable : kOk;
}

}  // namespace

Command export_command() {
  base::flags::Command spec{.name = "export", .summary = "write calls or stacks for the viewer of another tool"};
  spec.description =
      "Reads the same inputs as diagnose.\n\n"
      "perfetto: a trace for ui.perfetto.dev or chrome://tracing, a process for each rank, a thread for each of its "
      "groups, calls without an end marked, watchdog and kernel lines as instants. speedscope: the stacks of each rank "
      "or process, and all ranks merged, for speedscope.app. folded: the merged stacks as lines for flamegraph.pl or "
      "inferno, counted in ranks.\n\n"
      "Exit status 3: the input holds no calls or no stacks; nothing is written then.";
  spec.positional = input_paths();
  spec.flags = {
      {.name = "to",
       .letter = 't',
       .argument = "FORMAT",
       .choices = {"perfetto", "speedscope", "folded"},
       .fallback = "perfetto",
       .env = "HOLTER_EXPORT_TO",
       .help = "the format"},
      {.name = "output",
       .letter = 'f',
       .argument = "FILE",
       .value = base::flags::Value::kFile,
       .help = "write to a file instead of standard output"},
  };
  for (auto& flag : input_flags()) spec.flags.push_back(std::move(flag));
  spec.examples = {{"holter export --to perfetto dumps/ --output trace.json", "then open it at ui.perfetto.dev"},
                   {"holter export --to speedscope stacks/ > stacks.speedscope.json", "drop it on speedscope.app"},
                   {"holter export --to folded stacks/ | flamegraph.pl > ranks.svg", "one picture of all ranks"}};
  return {spec, run_export};
}

}  // namespace holter::app
