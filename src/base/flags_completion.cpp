// SPDX-License-Identifier: Apache-2.0
// Shell completion of a flag table. The scripts ask for nothing at run time: every word is in them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/flags_print.h"

namespace holter::base::flags {

namespace {

std::string words(const Program& program, const Command& command) {
  std::string out;
  const auto add = [&](const Flag& f) {
    out += fmt::format("{}--{}", out.empty() ? "" : " ", f.name);
    if (f.letter) out += fmt::format(" -{}", f.letter);
  };
  for (const auto& f : command.flags) add(f);
  for (const auto& f : program.common) add(f);
  return out;
}

std::string names(const Program& program) {
  std::string out;
  for (const auto& c : program.commands) out += fmt::format("{}{}", out.empty() ? "" : " ", c.name);
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// What completes the value of a flag, as a bash compgen option.
std::string bash_values(const std::vector<std::string_view>& choices, Value value) {
  if (!choices.empty()) return fmt::format("-W '{}'", fmt::join(choices, " "));
  return value == Value::kFolder ? "-d" : value == Value::kFile ? "-f" : "-W ''";
}

std::string bash(const Program& program) {
  std::string out = fmt::format(
      "# bash completion for {0}; load it with: source <({0} completion bash)\n"
      "_{0}() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" previous=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  local command=\"${{COMP_WORDS[1]:-}}\" how\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    how=\"-W '{1} --help --version'\"\n"
      "  else case \"$command:$previous\" in\n",
      program.name, names(program));
  const auto add_values = [&](std::string_view command, const Flag& f) {
    if (f.argument.empty()) return;
    out += fmt::format("    {}:--{}", command, f.name);
    if (f.letter) out += fmt::format("|{}:-{}", command, f.letter);
    out += fmt::format(") how=\"{}\" ;;\n", bash_values(f.choices, f.value));
  };
  for (const auto& c : program.commands) {
    for (const auto& f : c.flags) add_values(c.name, f);
  }
  for (const auto& f : program.common) add_values("*", f);
  out += "    *) case \"$command:$current\" in\n";
  for (const auto& c : program.commands) {
    out += fmt::format("      {}:-*) how=\"-W '{}'\" ;;\n", c.name, words(program, c));
    out += fmt::format("      {}:*) how=\"{}\" ;;\n", c.name, bash_values(c.positional.choices, c.positional.value));
  }
  return out + fmt::format(
                   "      *) how=\"-W ''\" ;;\n"
                   "    esac ;;\n"
                   "  esac; fi\n"
                   "  mapfile -t COMPREPLY < <(eval \"compgen $how -- \\\"\\$current\\\"\")\n"
                   "}}\n"
                   "complete -o filenames -F _{0} {0}\n",
                   program.name);
}

std::string zsh(const Program& program) {
  std::string out = fmt::format(
      "#compdef {0}\n# zsh completion for {0}; load it with: source <({0} completion zsh)\n_{0}() {{\n"
      "  local -a commands\n  commands=(\n",
      program.name);
  for (const auto& c : program.commands) out += "    " + quoted(fmt::format("{}:{}", c.name, c.summary)) + "\n";
  out += "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n";
  const auto action = [](const std::vector<std::string_view>& choices, Value value) {
    if (!choices.empty()) return fmt::format("({})", fmt::join(choices, " "));
    return std::string(value == Value::kFolder ? "_files -/" : value == Value::kFile ? "_files" : " ");
  };
  const auto add = [&](const Flag& f) {
    std::string text;
    for (const char c : f.help) text += c == '[' || c == ']' || c == ':' ? std::string("\\") + c : std::string(1, c);
    const std::string rest = f.argument.empty()
                                 ? fmt::format("[{}]", text)
                                 : fmt::format("[{}]:{}:{}", text, f.argument, action(f.choices, f.value));
    if (f.letter) out += " \\\n      " + quoted(fmt::format("*-{}{}", f.letter, rest));
    out += " \\\n      " + quoted(fmt::format("*--{}{}", f.name, rest));
  };
  for (const auto& c : program.commands) {
    out += fmt::format("    {})\n      shift words; (( CURRENT-- ))\n      _arguments -s", c.name);
    for (const auto& f : c.flags) add(f);
    for (const auto& f : program.common) add(f);
    const auto& p = c.positional;
    if (!p.name.empty()) {
      out += " \\\n      " + quoted(fmt::format("{}:{}:{}", p.many ? "*" : "1", p.name, action(p.choices, p.value)));
    }
    out += " ;;\n";
  }
  return out + fmt::format("  esac\n}}\ncompdef _{0} {0}\n", program.name);
}

std::string fish(const Program& program) {
  std::string out = fmt::format(
      "# fish completion for {0}; load it with: {0} completion fish | source\ncomplete -c {0} -f\n", program.name);
  const auto add = [&](std::string_view condition, const Flag& f) {
    out += fmt::format("complete -c {}{} -l {}", program.name, condition, f.name);
    if (f.letter) out += fmt::format(" -s {}", f.letter);
    if (!f.choices.empty()) out += fmt::format(" -x -a '{}'", fmt::join(f.choices, " "));
    else if (!f.argument.empty()) out += f.value == Value::kFile || f.value == Value::kFolder ? " -r -F" : " -x";
    out += " -d " + quoted(f.help) + "\n";
  };
  for (const auto& c : program.commands) {
    out +=
        fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program.name, c.name, quoted(c.summary));
    const std::string condition = fmt::format(" -n '__fish_seen_subcommand_from {}'", c.name);
    for (const auto& f : c.flags) add(condition, f);
    const auto& p = c.positional;
    if (!p.choices.empty())
      out += fmt::format("complete -c {}{} -a '{}'\n", program.name, condition, fmt::join(p.choices, " "));
    else if (p.value == Value::kFile) out += fmt::format("complete -c {}{} -F\n", program.name, condition);
  }
  for (const auto& f : program.common) add("", f);
  return out;
}

}  // namespace

std::string completion(const Program& program, Shell shell) {
  return shell == Shell::kBash ? bash(program) : shell == Shell::kZsh ? zsh(program) : fish(program);
}

}  // namespace holter::base::flags
