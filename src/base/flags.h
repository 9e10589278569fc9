// SPDX-License-Identifier: Apache-2.0
// Command lines as data. One table of commands and flags is parsed here and also printed as --help,
// manual page, shell completion and reference (flags_print.h), so that none of them can be stale.
//
//   const Command kScan{.name = "scan", .summary = "look at this node",
//                       .flags = {{.name = "format", .letter = 'o', .argument = "FORMAT",
//                                  .choices = {"text", "json"}, .fallback = "text",
//                                  .env = "HOLTER_FORMAT", .help = "output format"}}};
//   auto parsed = parse(kProgram, kScan, arguments, getenv);
//   if (parsed) parsed->get("format");
//
// Precedence: command line, then environment, then fallback. All functions are pure; string views of
// a table must outlive it (they are literals).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holter::base::flags {

// What a value is: for checks and for completion.
enum class Value { kText, kNumber, kFile, kFolder };

struct Flag {
  std::string_view name;      // long name without dashes
  char letter = 0;            // 0: none
  std::string_view argument;  // "FORMAT"; empty: a switch
  std::vector<std::string_view> choices;
  Value value = Value::kText;
  std::string_view fallback;
  std::string_view env;    // "HOLTER_FORMAT"; empty: none
  std::string_view means;  // a switch that stands for another flag: "format=json"
  std::string_view help;   // lower case, no full stop
};

struct Positional {
  std::string_view name;  // "PATH"; empty: the command takes no arguments
  bool required = false;
  bool many = false;
  std::vector<std::string_view> choices;
  Value value = Value::kText;
  std::string_view help;
  std::string_view no_more;  // why a surplus argument is refused: "it describes this program"
};

struct Example {
  std::string_view command;
  std::string_view what;
};

struct Command {
  std::string_view name;
  std::string_view summary;      // lower case, no full stop
  std::string_view description;  // paragraphs separated by an empty line
  Positional positional;
  std::vector<Flag> flags;
  std::vector<Example> examples;
};

struct Row {
  std::string_view name;
  std::string_view help;
};

struct Program {
  std::string_view name;
  std::string_view version;
  std::string_view summary;
  std::string_view description;
  std::vector<Example> examples;
  std::vector<Command> commands;
  std::vector<Flag> common;  // every command takes them too
  std::vector<Row> exit_codes;
  std::vector<Row> environment;  // variables that belong to no flag
};

// The value of an environment variable, or nullptr.
using GetEnv = std::function<const char*(const char*)>;

class Parsed {
 public:
  // The last value given, the environment's, or the fallback ("" without one).
  std::string_view get(std::string_view flag) const;
  // How often the flag was given (environment counts as once).
  int count(std::string_view flag) const;
  bool has(std::string_view flag) const { return count(flag) > 0; }
  // Only for flags with Value::kNumber; parse() has checked them.
  int number(std::string_view flag) const;
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  friend class Parser;
  std::map<std::string, std::vector<std::string>, std::less<>> given_;
  std::map<std::string, std::string, std::less<>> fallback_;
  std::vector<std::string> arguments_;
};

// Takes what follows the name of the command. Accepts --name VALUE, --name=VALUE, -o VALUE, -oVALUE,
// -vv, and -- before arguments that begin with a dash; "-" is an argument. --help is not special: it
// is a common flag that the caller looks at, and with it nothing is missing. Errors are Code::kInvalid
// and name the nearest flag or choice.
Result<Parsed> parse(const Program& program, const Command& command, const std::vector<std::string>& arguments,
                     const GetEnv& env);

// The command of that name, or an error that names the nearest one.
Result<const Command*> find_command(const Program& program, std::string_view name);

// The candidate with the fewest edits when it is close enough to be a slip, else "".
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace holter::base::flags
