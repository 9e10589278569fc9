// SPDX-License-Identifier: Apache-2.0
#include "doctor_command.h"

#include <cstdlib>

#include <fmt/format.h>

#include "base/json.h"
#include "base/strings.h"
#include "output.h"
#include "platform/probes.h"

namespace holter::app {

namespace {

std::string to_text(const std::vector<platform::Probe>& probes) {
  std::string out;
  for (const auto& p : probes) {
    out += fmt::format("{:<8} {}: {}\n", platform::to_string(p.state), p.what, base::printable(p.detail));
    if (!p.hint.empty()) out += fmt::format("         hint: {}\n", p.hint);
  }
  return out + "yes      read files of a job (holter diagnose): needs nothing of the above\n";
}

std::string to_json(const std::vector<platform::Probe>& probes) {
  base::JsonBuffer buffer;
  base::JsonWriterOf<rapidjson::Writer> w(buffer);
  const auto field = [&](const char* key, const std::string& value) {
    w.Key(key);
    w.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  };
  w.StartObject();
  field("schema", "holter.doctor/1");
  w.Key("probes");
  w.StartArray();
  for (const auto& p : probes) {
    w.StartObject();
    field("name", p.name);
    field("what", p.what);
    field("state", platform::to_string(p.state));
    field("detail", base::printable(p.detail));
    field("hint", p.hint);
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
  return std::string(buffer.GetString()) + "\n";
}

int run_doctor(const base::flags::Parsed& flags) {
  platform::Host host;
  host.env = ::getenv;
  const auto probes = platform::probe_host(host);
  return write_data(flags.get("format") == "json" ? to_json(probes) : to_text(probes));
}

}  // namespace

Command doctor_command() {
  base::flags::Command spec{.name = "doctor", .summary = "say what Holter can see on this machine, and what not"};
  spec.description =
      "Checks which evidence can be collected here: stacks of running processes, kernel messages, GPUs, NCCL RAS, "
      "dumps and schedulers. Nothing is changed. `holter diagnose` needs none of it, only files.";
  spec.positional.no_more = "it looks at this machine; for files use holter diagnose";
  spec.flags = {{.name = "format",
                 .letter = 'o',
                 .argument = "FORMAT",
                 .choices = {"text", "json"},
                 .fallback = "text",
                 .help = "output format"},
                {.name = "json", .means = "format=json", .help = "the same as -o json"}};
  spec.examples = {{"holter doctor", "what can be seen here"},
                   {"sudo holter doctor", "what root could see"},
                   {"srun -N4 --ntasks-per-node=1 holter doctor -o json", "on the nodes of a job"}};
  return {spec, run_doctor};
}

}  // namespace holter::app
