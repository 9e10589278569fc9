// SPDX-License-Identifier: Apache-2.0
#include "base/flags.h"

#include <gmock/gmock.h>

#include "base/flags_print.h"
#include "base/result_matchers.h"
#include "base/strings.h"

namespace holter::base::flags {
namespace {

using base::testing::Fails;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Program program() {
  Program p;
  p.name = "tool";
  p.version = "1.2";
  p.summary = "a tool";
  p.description = "What it does.\n\n.starts with a dot";
  p.common = {{.name = "help", .letter = 'h', .help = "print help"},
              {.name = "verbose", .letter = 'v', .help = "say more"}};
  p.exit_codes = {{"0", "fine"}};
  Command scan{.name = "scan", .summary = "look at it's files"};
  scan.positional = {.name = "PATH", .required = true, .many = true, .value = Value::kFile, .help = "what to read"};
  scan.flags = {{.name = "format",
                 .letter = 'o',
                 .argument = "FORMAT",
                 .choices = {"text", "json"},
                 .fallback = "text",
                 .env = "TOOL_FORMAT",
                 .help = "output format"},
                {.name = "json", .means = "format=json", .help = "the same as -o json"},
                {.name = "jobs", .letter = 'j', .argument = "N", .value = Value::kNumber, .help = "threads"}};
  scan.examples = {{"tool scan .", "this folder"}};
  Command version{.name = "version", .summary = "print the version"};
  version.positional.no_more = "it describes this program";
  p.commands = {scan, version};
  return p;
}

Result<Parsed> scan(std::vector<std::string> arguments, std::map<std::string, std::string> env = {}) {
  const auto p = program();
  return parse(p, p.commands[0], arguments, [&](const char* name) -> const char* {
    const auto it = env.find(name);
    return it == env.end() ? nullptr : it->second.c_str();
  });
}

TEST(Flags, ReadsEveryWayOfWritingAValue) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"p", "-o", "json"},
                                                                                     {"p", "-ojson"},
                                                                                     {"-o=json", "p"},
                                                                                     {"--format", "json", "p"},
                                                                                     {"--format=json", "p"},
                                                                                     {"p", "--json"}}) {
    const auto parsed = scan(words);
    ASSERT_THAT(parsed, base::testing::IsOk());
    EXPECT_EQ(parsed->get("format"), "json");
    EXPECT_THAT(parsed->arguments(), ElementsAre("p"));
  }
}

TEST(Flags, CountsLettersAndStopsAtTwoDashes) {
  const auto parsed = scan({"-vv", "-v", "--", "-o", "--json"});
  ASSERT_THAT(parsed, base::testing::IsOk());
  EXPECT_EQ(parsed->count("verbose"), 3);
  EXPECT_THAT(parsed->arguments(), ElementsAre("-o", "--json"));
  EXPECT_THAT(scan({"-"})->arguments(), ElementsAre("-"));
}

TEST(Flags, CommandLineWinsOverEnvironmentOverFallback) {
  EXPECT_EQ(scan({"p"})->get("format"), "text");
  EXPECT_EQ(scan({"p"}, {{"TOOL_FORMAT", "json"}})->get("format"), "json");
  EXPECT_EQ(scan({"p", "-o", "text"}, {{"TOOL_FORMAT", "json"}})->get("format"), "text");
  EXPECT_THAT(scan({"p"}, {{"TOOL_FORMAT", "xml"}}), Fails(Code::kInvalid, HasSubstr("TOOL_FORMAT")));
}

TEST(Flags, RefusesWithTheNearestName) {
  EXPECT_THAT(scan({"p", "--formt", "json"}), Fails(Code::kInvalid, HasSubstr("did you mean '--format'?")));
  EXPECT_THAT(scan({"p", "-o", "jsn"}), Fails(Code::kInvalid, HasSubstr("did you mean 'json'?")));
  EXPECT_THAT(scan({"p", "--zzz"}), Fails(Code::kInvalid, Not(HasSubstr("did you mean"))));
  EXPECT_THAT(scan({"p", "-x"}), Fails(Code::kInvalid, HasSubstr("'-x'")));
  EXPECT_THAT(find_command(program(), "scna"), Fails(Code::kInvalid, HasSubstr("did you mean 'scan'?")));
}

TEST(Flags, RefusesMissingAndSurplus) {
  EXPECT_THAT(scan({}), Fails(Code::kInvalid, HasSubstr("at least one PATH")));
  EXPECT_THAT(scan({"--help"}), base::testing::IsOk());
  EXPECT_THAT(scan({"p", "-o"}), Fails(Code::kInvalid, HasSubstr("--format needs FORMAT")));
  EXPECT_THAT(scan({"p", "--json=1"}), Fails(Code::kInvalid, HasSubstr("takes no value")));
  EXPECT_THAT(scan({"p", "-j", "two"}), Fails(Code::kInvalid, HasSubstr("not a number")));
  EXPECT_THAT(scan({"p", "-j-1"}), Fails(Code::kInvalid, HasSubstr("not a number")));
  const auto p = program();
  EXPECT_THAT(parse(p, p.commands[1], {"x"}, [](const char*) { return nullptr; }),
              Fails(Code::kInvalid, HasSubstr("it describes this program")));
}

TEST(Flags, NumbersAndAbsence) {
  EXPECT_EQ(scan({"p", "-j4"})->number("jobs"), 4);
  EXPECT_FALSE(scan({"p"})->has("jobs"));
  EXPECT_EQ(scan({"p"})->get("jobs"), "");
}

TEST(FlagsPrint, HelpOpensWithExamplesAndFitsTheWidth) {
  const auto p = program();
  const auto text = help(p, p.commands[0], 60);
  EXPECT_THAT(text, StartsWith("tool scan: look at it's files\n\nExamples:\n  tool scan ."));
  EXPECT_THAT(text, HasSubstr("output format: text, json (default"));
  for (const auto line : split(text, '\n')) EXPECT_LE(line.size(), 60U) << line;
}

TEST(FlagsPrint, ManPageEscapesRequests) {
  const auto text = man_page(program());
  EXPECT_THAT(text, HasSubstr("\\&.starts with a dot"));
  EXPECT_THAT(text, HasSubstr("\\-\\-format"));
}

TEST(FlagsPrint, CompletionKnowsEveryFlagAndChoice) {
  const auto p = program();
  for (const auto shell : {Shell::kBash, Shell::kZsh, Shell::kFish}) {
    const auto text = completion(p, shell);
    for (const auto* word : {"scan", "version", "format", "jobs", "text json"}) EXPECT_THAT(text, HasSubstr(word));
  }
  EXPECT_THAT(completion(p, Shell::kFish), HasSubstr("'look at it'\\''s files'"));
}

TEST(FlagsPrint, WrapKeepsWordsWhole) { EXPECT_EQ(wrap("one two three", 7, 2), "one two\n  three"); }

}  // namespace
}  // namespace holter::base::flags
