// SPDX-License-Identifier: Apache-2.0
#include "formats/text/stance.h"

#include <algorithm>
#include <array>

#include <re2/re2.h>

namespace holter::formats::text {

namespace {

constexpr std::size_t kTried = 2048;  // bytes of a line

re2::StringPiece piece(std::string_view s) { return {s.data(), s.size()}; }

// An exception or a kernel message speaks for itself, whatever words follow: "ValueError: no errors given".
const re2::RE2& plain_statement() {
  static const re2::RE2 pattern(
      R"(^\s*(?:[\w.]+(?:Error|Exception|Interrupt)\b(?:$|:)|NVRM: |terminate called|Traceback|Fatal Python error)|\bnccl\w+Error\b)");
  return pattern;
}

// Of a test or a request, whatever the words are that it carries.
const std::array<const re2::RE2*, 5>& carriers() {
  static const re2::RE2 test(R"(\bPASSED\b|^\s*\[ *OK *\]|\.\.\. ?ok\s*$)");
  static const re2::RE2 help(R"((?i)^\s*--?[a-z][\w-]*(?:[ =][A-Z_]+)?\s{2,})");
  static const re2::RE2 request(
      R"((?i)\breceived request\b|\bprompt\b['"]?\s*[:=]|['"](?:messages|prompt|content|query)['"]\s*:\s*['"\[{])");
  // A search through sources and documents; a task of a configuration tool that went well.
  static const re2::RE2 search(
      R"(^\s*[\w./@+-]+\.(?:md|rst|adoc|py|pyi|ipynb|c|cc|cpp|cu|cuh|h|hpp|go|rs|js|ts|java|html|toml|ya?ml|json)[:-]\d+[:-]|^\s*(?:ok|skipping|changed|included): \[)");
  static const re2::RE2 talk(
      R"((?i)\b(?:did|does|has|have|was|were|is) (?:any|some)(?:one|body)\b|\b(?:yesterday|last (?:night|week|month|year)|this morning)\b|\b(?:if|when) you (?:see|get|hit)\b|\w that (?:prints|says|logs)\b)");
  static const std::array<const re2::RE2*, 5> all{&test, &help, &request, &search, &talk};
  return all;
}

// Nothing of it, a check that passed, a fault that was meant. Not in a line that is an error by its level.
const std::array<const re2::RE2*, 3>& denials() {
  static const re2::RE2 none(
      R"((?i)\b(?:no|zero|0|without|free of)\s+(?:(?:any|a|new|more|further|known|other|cuda|nccl|ecc|xid|gpu|oom|sxid|memory|fatal|critical|hardware|network|link|pending|unhandled|kernel|recent|uncorrect\w+|correctable|single|double|bit)\s+){0,4}(?:errors?|failures?|faults?|ooms?|nans?|timeouts?|xids?|kills?|crash(?:es)?|hangs?)\b|\b(?:errors|error count|events|failures|kills|xids)\s*[:=]\s*(?:0|none)(?:[\s,;)\]]|$))");
  static const re2::RE2 passed(
      R"((?i)\b(?:check|checks|checking|checked|probe|probing|validat\w+|verif\w+|preflight)\b.{0,160}[\s:.=](?:passed|pass|ok|okay|successful|none found|clean)[\s.!)]*(?:\([\d.]+ ?m?s\))?\s*$)");
  static const re2::RE2 meant(
      R"((?i)\bas expected\b|\(expected\)|\bexpected (?:failure|error|exit|fault)|\bby design\b|\bwould raise\b|\b(?:inject|simulat)\w* (?:an? )?(?:fault|failure|error|hang|crash|kill)|\bchaos(?:[- ]?(?:mesh|blade|monkey|kube))?\b)");
  static const std::array<const re2::RE2*, 3> all{&none, &passed, &meant};
  return all;
}

const re2::RE2& error_level() {
  static const re2::RE2 pattern(
      R"(\b(?:ERROR|CRITICAL|FATAL|WARN(?:ING)?)\b|^E\d{4} |(?i:\bfailed (?:with|to|because|:)|\bnot (?:ok|passed)\b))");
  return pattern;
}

const re2::RE2& handled() {
  static const re2::RE2 pattern(
      R"((?i)\b(?:caught|handled)\b.{0,400}\b(?:falling back|retry\w*|continu\w+|skip\w*|ignor\w+|using|trying|reduc\w+|halv\w+)|\b(?:fall(?:ing|s)?[- ]back|fell back) (?:to|on)\b|\bException ignored in\b|\b(?:error|issue|problem|failure)s?\b.{0,40} (?:has been |was |were )?(?:recovered|resolved)\b|\brecovered (?:in|after|from)\b|does not fit\b.{0,200}\btrying\b|\btrying (?:a )?(?:smaller|batch size)|\b(?:retrying|trying again) with (?:a )?(?:smaller|lower|batch|micro)|\bSkipping (?:step|batch)|\breducing (?:the )?(?:batch|loss)|\bhalv(?:e|ing) the batch)");
  return pattern;
}

const re2::RE2& not_handled() {
  static const re2::RE2 pattern(
      R"((?i)\b(?:not|cannot|never|unable to|failed to|could ?n[o']t|can'?t) (?:be )?(?:fully )?(?:recover|resolv|handl|retr|continu|fall))");
  return pattern;
}

bool finds(re2::StringPiece text, const re2::RE2& pattern) { return re2::RE2::PartialMatch(text, pattern); }

template <typename Patterns>
bool finds_any(re2::StringPiece text, const Patterns& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto* p) { return finds(text, *p); });
}

}  // namespace

bool trains_at_boot(std::string_view raw) {
  static const re2::RE2 pattern(R"(\[ {0,6}\d{1,2}\.\d{3,6}\] .*(?i:\blink (?:is )?(?:now )?down\b))");
  return re2::RE2::PartialMatch(piece(raw.substr(0, kTried)), pattern);
}

Stance stance_of(std::string_view body) {
  const auto text = piece(body.substr(0, kTried));
  if (finds_any(text, carriers())) return Stance::kDenies;
  if (finds(text, plain_statement())) return Stance::kSays;
  if (finds_any(text, denials()) && !finds(text, error_level())) return Stance::kDenies;
  return finds(text, handled()) && !finds(text, not_handled()) ? Stance::kHandled : Stance::kSays;
}

}  // namespace holter::formats::text
