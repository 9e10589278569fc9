// SPDX-License-Identifier: Apache-2.0
#include "help_command.h"

#include "app.h"
#include "base/flags_print.h"
#include "base/log.h"
#include "output.h"

namespace holter::app {

namespace flags = base::flags;

namespace {

int run_help(const flags::Parsed& parsed) {
  if (parsed.has("man")) return write_data(flags::man_page(program()));
  if (parsed.has("markdown")) return write_data(flags::markdown(program()));
  if (parsed.arguments().empty()) return write_data(flags::help(program()));
  const auto found = flags::find_command(program(), parsed.arguments().front());
  if (found) return write_data(flags::help(program(), **found));
  base::log::error("{}", found.error().to_string());
  return kUsage;
}

}  // namespace

Command help_command() {
  flags::Command spec{.name = "help", .summary = "explain the program or one command"};
  spec.positional = {.name = "COMMAND", .help = "the command to explain", .no_more = "so ask for one after the other"};
  spec.flags = {{.name = "man", .help = "print the manual page (troff)"},
                {.name = "markdown", .help = "print the reference of all commands in Markdown"}};
  spec.examples = {{"holter help diagnose", "options and examples of a command"},
                   {"holter help --man | man -l -", "the whole manual page"},
                   {"holter help --markdown > cli.md", "the reference for a web page"}};
  return {spec, run_help};
}

}  // namespace holter::app
