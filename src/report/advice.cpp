// SPDX-License-Identifier: Apache-2.0
#include "report/advice.h"

#include <algorithm>

#include <fmt/format.h>
#include <rapidjson/prettywriter.h>

#include "base/host_name.h"
#include "base/json.h"
#include "base/strings.h"
#include "report/words.h"

namespace holter::report {

namespace {

// One line of a comment: nothing in it can end the comment.
std::string comment(std::string_view text) { return "# " + base::printable(text) + "\n"; }

std::string word(Course course) {
  return course == Course::kRestart ? "restart" : course == Course::kDoNotRestart ? "do not restart" : "not decided";
}

// In single quotes for a POSIX shell; text with quotes, controls or backslashes is dropped instead.
std::string quoted(std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127 && c != '\'' && c != '\\'; });
  return plain ? fmt::format("'{}'", text) : "''";
}

// A fault that the next attempt meets again on the same node.
bool stays_with_a_device(const model::Report& r) {
  if (r.findings.empty()) return false;
  const auto severity = r.findings.front().severity;
  return severity == model::Severity::kGpuFatal || severity == model::Severity::kNodeFatal ||
         severity == model::Severity::kReplace;
}

std::string head(const Advice& a) {
  std::string out = comment(fmt::format("{}: {}", a.verdict, a.summary));
  out += comment(fmt::format("advice: {}{}", word(a.course), a.why.empty() ? "" : "; " + a.why));
  if (!a.owner.empty()) out += comment("owner: " + a.owner);
  for (const auto& name : a.refused_nodes) out += comment("left out, no host name: " + name);
  if (a.evidence_first) {
    for (const auto& k : a.keep) out += comment("keep first: " + k);
  }
  for (const auto& action : a.repair) out += comment("repair: " + action.text);
  return out;
}

std::string slurm(const Advice& a, std::string_view job) {
  std::string out = head(a);
  const std::string id(job.empty() ? "$SLURM_JOB_ID" : job);
  if (!a.resume_from.empty()) out += comment("resume from: " + a.resume_from);
  if (a.course != Course::kRestart) return out + comment(fmt::format("scontrol requeue {} is not advised", id));
  if (!a.exclude_nodes.empty())
    out += fmt::format("scontrol update JobId={} ExcNodeList={}\n", id, fmt::join(a.exclude_nodes, ","));
  return out + fmt::format("scontrol requeue {}\n", id);
}

// A patch for `kubectl patch --type merge --patch-file`, for anything with a pod template.
std::string kubernetes(const Advice& a) {
  std::string out = head(a);
  if (a.course != Course::kRestart) return out + comment("no patch: a restart is not advised");
  if (a.exclude_nodes.empty()) return out + comment("no node to keep out; delete the pods to restart them");
  out +=
      "spec:\n  template:\n    spec:\n      affinity:\n        nodeAffinity:\n"
      "          requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n"
      "              - matchExpressions:\n                  - key: kubernetes.io/hostname\n"
      "                    operator: NotIn\n                    values:\n";
  for (const auto& node : a.exclude_nodes) out += fmt::format("                      - \"{}\"\n", node);
  return out;
}

// Assignments that a launch script reads with `.`; the values hold no quotes.
std::string torchrun(const Advice& a) {
  std::string out = head(a);
  out += fmt::format("HOLTER_RESTART={}\n", a.course == Course::kRestart        ? "yes"
                                            : a.course == Course::kDoNotRestart ? "no"
                                                                                : "unknown");
  out += fmt::format("HOLTER_EVIDENCE_FIRST={}\n", a.evidence_first ? "yes" : "no");
  out += fmt::format("HOLTER_EXCLUDE_NODES='{}'\n", fmt::join(a.exclude_nodes, " "));
  out += fmt::format("HOLTER_RESUME_FROM={}\n", quoted(a.resume_from));
  return out;
}

std::string json(const Advice& a) {
  base::JsonBuffer buffer;
  base::JsonWriterOf<rapidjson::PrettyWriter> w(buffer);
  w.SetIndent(' ', 1);
  const auto text = [&](std::string_view value) {
    const auto safe = base::printable(value);
    w.String(safe.data(), static_cast<rapidjson::SizeType>(safe.size()));
  };
  const auto field = [&](const char* key, std::string_view value) { w.Key(key), text(value); };
  const auto list = [&](const char* key, const std::vector<std::string>& values) {
    w.Key(key);
    w.StartArray();
    for (const auto& v : values) text(v);
    w.EndArray();
  };
  w.StartObject();
  field("schema", "holter.advice/1");
  field("restart", a.course == Course::kRestart ? "yes" : a.course == Course::kDoNotRestart ? "no" : "unknown");
  w.Key("evidence_first");
  w.Bool(a.evidence_first);
  list("exclude_nodes", a.exclude_nodes);
  field("resume_from", a.resume_from);
  field("owner", a.owner);
  field("why", a.why);
  field("verdict", a.verdict);
  field("summary", a.summary);
  list("keep", a.keep);
  w.Key("repair");
  w.StartArray();
  for (const auto& action : a.repair) {
    w.StartObject();
    field("text", action.text);
    field("command", action.command);
    field("risk", model::to_string(action.risk));
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

std::string plain(const Advice& a) {
  std::string out = fmt::format("{}: {}\n", a.verdict, base::printable(a.summary));
  const auto row = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) out += fmt::format("  {:<9} {}\n", name, base::printable(value));
  };
  row("advice",
      word(a.course) + (a.course == Course::kRestart && a.evidence_first ? ", after the evidence is saved" : ""));
  row("why", a.why);
  row("exclude", fmt::format("{}", fmt::join(a.exclude_nodes, ", ")));
  row("resume", a.resume_from);
  row("owner", a.owner);
  if (!a.keep.empty()) out += a.evidence_first ? "Save first\n" : "Would decide\n";
  for (const auto& k : a.keep) out += "  - " + base::printable(k) + "\n";
  if (!a.repair.empty()) out += "Repair\n";
  for (const auto& action : a.repair) {
    out += fmt::format("  - {} [{} risk]\n", base::printable(action.text), model::to_string(action.risk));
    if (!action.command.empty()) out += "    $ " + base::printable(action.command) + "\n";
  }
  return out;
}

}  // namespace

Advice advise(const model::Report& r) {
  Advice a;
  a.verdict = verdict_label(r);
  a.summary = r.verdict.summary;
  a.why = r.decision.why;
  a.owner = r.owner == model::Owner::kUnknown ? "" : spaced(model::to_string(r.owner));
  a.resume_from = r.decision.resume_from;
  switch (r.decision.restart) {
    case model::Restart::kNow: a.course = Course::kRestart; break;
    case model::Restart::kAfterEvidence:
      a.course = Course::kRestart;
      a.evidence_first = true;
      break;
    case model::Restart::kNo: a.course = Course::kDoNotRestart; break;
    case model::Restart::kUnknown: a.course = Course::kUndecided; break;
  }
  // Without a fault there is nothing that a restart would mend.
  if (r.verdict.certainty == model::Certainty::kNoFault) a.course = Course::kDoNotRestart;
  for (const auto& node : r.decision.exclude_nodes)
    (base::is_safe_host_name(node) ? a.exclude_nodes : a.refused_nodes)
        .push_back(base::is_safe_host_name(node) ? node : base::printable(node));
  if (a.course == Course::kRestart && a.exclude_nodes.empty() && stays_with_a_device(r)) {
    a.course = Course::kUndecided;
    a.why += "; its node is not named here, and a requeue could come back to it";
  }
  if (!r.findings.empty()) {
    a.keep = r.findings.front().needs;
    a.repair = r.findings.front().actions;
  }
  return a;
}

std::string to_text(const Advice& advice, AdviceFormat format, std::string_view job) {
  switch (format) {
    case AdviceFormat::kText: return plain(advice);
    case AdviceFormat::kSlurm: return slurm(advice, job);
    case AdviceFormat::kKubernetes: return kubernetes(advice);
    case AdviceFormat::kTorchrun: return torchrun(advice);
    case AdviceFormat::kJson: return json(advice);
  }
  return "";
}

}  // namespace holter::report
