// SPDX-License-Identifier: Apache-2.0
#include "app.h"

#include <cstdlib>

#include "advise_command.h"
#include "base/flags_print.h"
#include "base/log.h"
#include "base/terminal.h"
#include "collect_command.h"
#include "command.h"
#include "completion_command.h"
#include "diagnose_command.h"
#include "doctor_command.h"
#include "explain_command.h"
#include "export_command.h"
#include "help_command.h"
#include "output.h"
#include "version_command.h"

namespace holter::app {

namespace flags = base::flags;
namespace log = base::log;

namespace {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      advise_command(), collect_command(),    diagnose_command(), doctor_command(),  explain_command(),
      export_command(), completion_command(), help_command(),     version_command(),
  };
  return all;
}

flags::Program make_program() {
  flags::Program p;
  p.name = "holter";
  p.version = HOLTER_VERSION;
  p.summary = "find what stopped or slowed a large-model job, with evidence";
  p.description =
      "Holter reads what a hung, slow or failed training or inference job left behind (Flight Recorder "
      "dumps, logs, stacks, NCCL and kernel messages, GPU reports; any mix, folders or archives) and says "
      "which rank, device, link or line of code started it, with the lines that show it.\n\n"
      "Data goes to standard output, everything else to standard error. Nothing that is read is executed "
      "or sent anywhere.";
  p.examples = {{"holter collect --slurm 88123", "a running job: evidence from its hosts, then the verdict"},
                {"holter diagnose /shared/run42/", "everything that a job left in a folder"},
                {"holter advise 88123 -o slurm", "restart or not, and without which nodes"}};
  p.common = {
      {.name = "help", .letter = 'h', .help = "print this help"},
      {.name = "color",
       .argument = "WHEN",
       .choices = {"auto", "always", "never"},
       .fallback = "auto",
       .env = "HOLTER_COLOR",
       .help = "colour the output"},
      {.name = "verbose", .letter = 'v', .help = "say more on standard error; twice for debugging"},
      {.name = "quiet", .letter = 'q', .help = "say only errors on standard error"},
  };
  p.exit_codes = {{"0", "no finding at or above --fail-on, and no gap that could hide one"},
                  {"1", "a confirmed or likely finding at or above --fail-on"},
                  {"2", "usage error, or no readable input"},
                  {"3", "no such finding, but a gap in the evidence could hide one"},
                  {"4", "a needed server, permission or resource is not there"},
                  {"128+n", "ended by signal n"}};
  p.environment = {{"HOLTER_*", "defaults of options, named with each option; the command line wins"},
                   {"NO_COLOR", "not empty: no colour"},
                   {"CLICOLOR_FORCE", "not empty and not 0: colour also when the output is not a terminal"},
                   {"TERM", "dumb: no colour"},
                   {"LC_ALL, LC_CTYPE, LANG", "box characters only when the locale is UTF-8"}};
  for (const auto& c : commands()) p.commands.push_back(c.spec);
  return p;
}

int usage_error(const base::Error& error, std::string_view command) {
  log::error("{}", error.to_string());
  log::hint("see holter {}--help", command.empty() ? "" : std::string(command) + " ");
  return kUsage;
}

void set_log_level(const flags::Parsed& parsed) {
  const int more = parsed.count("verbose") - parsed.count("quiet");
  log::set_threshold(more < 0    ? log::Level::kError
                     : more == 0 ? log::Level::kWarn
                     : more == 1 ? log::Level::kInfo
                                 : log::Level::kDebug);
}

int dispatch(const Command& command, const std::vector<std::string>& rest) {
  const auto parsed = flags::parse(program(), command.spec, rest, ::getenv);
  if (!parsed) return usage_error(parsed.error(), command.spec.name);
  set_log_level(*parsed);
  if (parsed->has("help")) return write_data(flags::help(program(), command.spec));
  return command.run(*parsed);
}

}  // namespace

const flags::Program& program() {
  static const flags::Program table = make_program();
  return table;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    log::error("a command is missing");
    log::hint("see holter --help; the first one to try is: holter diagnose PATH");
    return kUsage;
  }
  std::string name = arguments[0];
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  const auto found = flags::find_command(program(), name);
  if (!found) return usage_error(found.error(), "");
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  for (const auto& c : commands()) {
    if (c.spec.name == name) return dispatch(c, rest);
  }
  return kUsage;
}

}  // namespace holter::app
