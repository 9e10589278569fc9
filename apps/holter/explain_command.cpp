// SPDX-License-Identifier: Apache-2.0
#include "explain_command.h"

#include <fmt/format.h>

#include "base/log.h"
#include "output.h"
#include "report/explain.h"
#include "user_rules.h"

namespace holter::app {

namespace log = base::log;

namespace {

int run_explain(const base::flags::Parsed& flags) {
  const auto rules = load_rules(std::string(flags.get("rules")));
  if (!rules) {
    log::error("--rules: {}", rules.error().to_string());
    return kUsage;
  }
  // "xid 79" may come as two words.
  const std::string word = fmt::format("{}", fmt::join(flags.arguments(), " "));
  const auto found = report::explain(*rules, word);
  if (found.empty()) {
    log::error("nothing is known of '{}'", word);
    if (const auto near = report::suggestions(*rules, word); !near.empty())
      log::hint("did you mean {}?", fmt::join(near, ", "));
    return kUsage;
  }
  if (flags.get("format") == "json") return write_data(report::explain_json(found) + "\n");
  return write_data(report::explain_text(found, 80));
}

}  // namespace

Command explain_command() {
  base::flags::Command spec{.name = "explain", .summary = "what the tables know of a cause, Xid, SXid or signature"};
  spec.description =
      "Prints the row of the table: meaning, severity, what to do, and where it is known from. A number alone is looked "
      "up as Xid and as SXid.";
  spec.positional = {
      .name = "WORD", .required = true, .many = true, .help = "a cause, \"xid N\", \"sxid N\" or a signature"};
  spec.flags = {{.name = "format",
                 .letter = 'o',
                 .argument = "FORMAT",
                 .choices = {"text", "json"},
                 .fallback = "text",
                 .help = "output format"},
                {.name = "json", .means = "format=json", .help = "the same as -o json"},
                {.name = "rules",
                 .argument = "DIR",
                 .value = base::flags::Value::kFolder,
                 .env = "HOLTER_RULES",
                 .help = "folder whose files replace or extend the built-in rules"}};
  spec.examples = {{"holter explain xid 79", "a GPU fault number from the kernel log"},
                   {"holter explain collective_shape_mismatch", "a cause that a report names"},
                   {"holter explain 20034 --json", "for a program"}};
  return {spec, run_explain};
}

}  // namespace holter::app
