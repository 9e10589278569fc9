// SPDX-License-Identifier: Apache-2.0
#include "formats/text/stance.h"

#include <array>

#include <re2/re2.h>

namespace holter::formats::text {

namespace {

constexpr std::size_t kTried = 2048;  // bytes of a line

re2::StringPiece piece(std::string_view s) { return {s.data(), s.size()}; }

// An exception or a kernel message speaks for itself, whatever words follow: "ValueError: no errors given".
const re2::RE2& plain_statement() {
  static const re2::RE2 pattern(
      R"(^\s*(?:[\w.]+(?:Error|Exception|Interrupt)\b(?:$|:)|NVRM: |terminate called|Traceback|Fatal Python error))");
  return pattern;
}

const std::array<const re2::RE2*, 8>& denials() {
  // Nothing of it: "no OOM kills", "0 NCCL errors", "without any failure"; "ECC errors: 0".
  static const re2::RE2 none(
      R"((?i)\b(?:no|zero|0|without|free of)\s+(?:(?:any|a|new|more|further|known|other|cuda|nccl|ecc|xid|gpu|oom|sxid|memory|fatal|critical|hardware|network|link|pending|unhandled|kernel|recent|uncorrect\w+|correctable|single|double|bit)\s+){0,4}(?:errors?|failures?|faults?|ooms?|nans?|timeouts?|xids?|kills?|crash(?:es)?|hangs?)\b|\b(?:errors|error count|events|failures|kills|xids)\s*[:=]\s*(?:0|none)(?:[\s,;)\]]|$))");
  // A check or a test that passed.
  static const re2::RE2 passed(
      R"((?i:\b(?:check|checks|checking|checked|probe|probing|validat\w+|verif\w+|preflight)\b.{0,160}(?:passed|\bpass\b|\bok\b|okay|successful|none found|not found|\bclean\b|skipped))|\bPASSED\b|\[ *OK *\]|\.\.\. ?ok\s*$)");
  static const re2::RE2 expected(
      R"((?i)\bas expected\b|\(expected\)|\bexpected (?:failure|error|exit|fault)|\bby design\b|\b(?:inject|simulat)\w* (?:an? )?(?:fault|failure|error|hang|crash|kill)|\bwould (?:be|have|raise|cause|fail)\b)");
  // Help, manuals and advice.
  static const re2::RE2 explains(
      R"((?i)^\s*--?[a-z][\w-]*(?:[ =][A-Z_]+)?\s{2,}|\b(?:e\.g\.|i\.e\.|for example|for instance|such as|if you (?:see|get|hit)|when you (?:see|get|hit)|see also|\w+ that (?:prints|says|logs|reports))\b)");
  // Text that somebody sent to a model or a service.
  static const re2::RE2 request(
      R"((?i)\breceived request\b|\bprompt\b['"]?\s*[:=]|['"](?:messages|prompt|content|input|query)['"]\s*:\s*['"\[{])");
  static const re2::RE2 talk(
      R"((?i)^\s*(?:\[?\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?\]?\s+)<?@?[a-z][\w.-]*>?:\s|\b(?:did|does|has|have|was|were|is) (?:any|some)(?:one|body)\b|\b(?:yesterday|last (?:night|week|month|year)|this morning)\b|\?\s*$)");
  // A search through sources and documents.
  static const re2::RE2 search(
      R"(^\s*[\w./@+-]+\.(?:md|rst|adoc|py|pyi|ipynb|c|cc|cpp|cu|cuh|h|hpp|go|rs|js|ts|java|html|toml|ya?ml|json)[:-]\d+[:-])");
  // A task of a configuration tool that went well, and faults made on purpose by one for that.
  static const re2::RE2 tools(
      R"(^\s*(?:ok|skipping|changed|included): \[|(?i:\bchaos(?:[- ]?(?:mesh|blade|monkey|kube))?\b))");
  static const std::array<const re2::RE2*, 8> all{&none,    &passed, &expected, &explains,
                                                  &request, &talk,   &search,   &tools};
  return all;
}

const re2::RE2& handled() {
  static const re2::RE2 pattern(
      R"((?i)\b(?:caught|handled)\b.{0,400}\b(?:falling back|retry\w*|continu\w+|skip\w*|ignor\w+|using|trying|reduc\w+|halv\w+)|\b(?:fall(?:ing|s)?[- ]back|fell back) (?:to|on)\b|\bException ignored in\b|\bignoring\b|\brecovered\b|\bresolved\b|does not fit\b.{0,200}\btrying\b|\btrying (?:a )?(?:smaller|batch size)|\b(?:retrying|trying again) with (?:a )?(?:smaller|lower|batch|micro)|\bSkipping (?:step|batch)|\breducing (?:the )?(?:batch|loss)|\bhalv(?:e|ing) the batch)");
  return pattern;
}

}  // namespace

bool trains_at_boot(std::string_view raw) {
  static const re2::RE2 pattern(R"(\[ {0,6}\d{1,2}\.\d{3,6}\] .*(?i:\blink (?:is )?(?:now )?down\b))");
  return re2::RE2::PartialMatch(piece(raw.substr(0, kTried)), pattern);
}

Stance stance_of(std::string_view body) {
  const auto text = piece(body.substr(0, kTried));
  if (re2::RE2::PartialMatch(text, plain_statement())) return Stance::kSays;
  for (const auto* denial : denials()) {
    if (re2::RE2::PartialMatch(text, *denial)) return Stance::kDenies;
  }
  return re2::RE2::PartialMatch(text, handled()) ? Stance::kHandled : Stance::kSays;
}

}  // namespace holter::formats::text
