// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/flags_print.h"
#include "base/strings.h"

namespace holter::base::flags {

namespace {

constexpr int kColumn = 26;  // where the help of an option begins

void add_examples(std::string& out, const std::vector<Example>& examples) {
  if (examples.empty()) return;
  out += "\nExamples:\n";
  for (const auto& e : examples) out += fmt::format("  {}\n      {}\n", e.command, e.what);
}

void add_row(std::string& out, std::string_view name, std::string_view text, int width) {
  const std::string wrapped = wrap(text, width - kColumn, kColumn);
  if (name.size() + 4 > kColumn) out += fmt::format("  {}\n{:{}}{}\n", name, "", kColumn, wrapped);
  else out += fmt::format("  {:{}}{}\n", name, kColumn - 2, wrapped);
}

void add_flags(std::string& out, std::string_view title, const std::vector<Flag>& flags, int width) {
  if (flags.empty()) return;
  out += fmt::format("\n{}:\n", title);
  for (const auto& f : flags) add_row(out, (f.letter ? "" : "    ") + spelling(f), describe(f), width);
}

void add_paragraphs(std::string& out, std::string_view text, int width) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find("\n\n", at), text.size());
    out += "\n" + wrap(text.substr(at, end - at), width, 0) + "\n";
    at = end + 2;
  }
}

}  // namespace

std::string wrap(std::string_view text, int width, int indent) {
  std::string out;
  int column = 0;
  for (const auto line : split(text, '\n')) {
    for (const auto word : split_blanks(line)) {
      const int size = static_cast<int>(word.size());
      if (column > 0 && column + 1 + size > width) {
        out += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
        column = 0;
      } else if (column > 0) {
        out += ' ', ++column;
      }
      out += word;
      column += size;
    }
  }
  return out;
}

std::string spelling(const Flag& flag) {
  std::string out = flag.letter ? fmt::format("-{}, --{}", flag.letter, flag.name) : fmt::format("--{}", flag.name);
  if (!flag.argument.empty()) out += fmt::format(" {}", flag.argument);
  return out;
}

std::string describe(const Flag& flag) {
  std::string out(flag.help);
  if (!flag.choices.empty()) out += fmt::format(": {}", fmt::join(flag.choices, ", "));
  std::string notes;
  if (!flag.fallback.empty()) notes = fmt::format("default {}", flag.fallback);
  if (!flag.env.empty()) notes += fmt::format("{}environment {}", notes.empty() ? "" : "; ", flag.env);
  return notes.empty() ? out : fmt::format("{} ({})", out, notes);
}

std::string synopsis(const Program& program, const Command& command) {
  std::string out = fmt::format("{} {} [OPTION]...", program.name, command.name);
  const auto& p = command.positional;
  if (p.name.empty()) return out;
  const std::string name = fmt::format("{}{}", p.name, p.many ? "..." : "");
  return out + (p.required ? " " + name : " [" + name + "]");
}

std::string help(const Program& program, int width) {
  std::string out = fmt::format("{} {}: {}\n", program.name, program.version, program.summary);
  add_examples(out, program.examples);
  out += fmt::format("\nUsage: {} COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n", program.name);
  for (const auto& c : program.commands) add_row(out, c.name, c.summary, width);
  add_flags(out, "Options of every command", program.common, width);
  out += "\nExit status:\n";
  for (const auto& code : program.exit_codes) add_row(out, code.name, code.help, width);
  return out + fmt::format("\nMore: {0} COMMAND --help, man {0}\n", program.name);
}

std::string help(const Program& program, const Command& command, int width) {
  std::string out = fmt::format("{} {}: {}\n", program.name, command.name, command.summary);
  add_examples(out, command.examples);
  out += fmt::format("\nUsage: {}\n", synopsis(program, command));
  add_paragraphs(out, command.description, width);
  if (!command.positional.name.empty()) {
    out += "\nArguments:\n";
    const auto& p = command.positional;
    add_row(out, p.name,
            p.choices.empty() ? std::string(p.help) : fmt::format("{}: {}", p.help, fmt::join(p.choices, ", ")), width);
  }
  add_flags(out, "Options", command.flags, width);
  add_flags(out, "Options of every command", program.common, width);
  return out;
}

}  // namespace holter::base::flags
