// SPDX-License-Identifier: Apache-2.0
#include "completion_command.h"

#include "app.h"
#include "base/flags_print.h"
#include "output.h"

namespace holter::app {

namespace {

using base::flags::Shell;

int run_completion(const base::flags::Parsed& flags) {
  const auto& shell = flags.arguments().front();
  return write_data(base::flags::completion(program(), shell == "bash"  ? Shell::kBash
                                                       : shell == "zsh" ? Shell::kZsh
                                                                        : Shell::kFish));
}

}  // namespace

Command completion_command() {
  base::flags::Command spec{.name = "completion", .summary = "print the completion script of a shell"};
  spec.description = "Writes a script to standard output that completes commands, options and their values.";
  spec.positional = {.name = "SHELL",
                     .required = true,
                     .choices = {"bash", "zsh", "fish"},
                     .help = "which shell",
                     .no_more = "a script is for one shell"};
  spec.examples = {{"source <(holter completion bash)", "for this shell"},
                   {"holter completion bash > ~/.local/share/bash-completion/completions/holter", "for good"},
                   {"holter completion fish | source", "the same in fish"}};
  return {spec, run_completion};
}

}  // namespace holter::app
