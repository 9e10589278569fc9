// SPDX-License-Identifier: Apache-2.0
// Resource limits: bash `ulimit -a` ("max locked memory  (kbytes, -l) 8192"), /proc/PID/limits
// ("Max locked memory  67108864  67108864  bytes"), systemd ("LimitMEMLOCK=65536").
// Facts limit.memlock_kb, limit.nofile, limit.nproc, limit.stack_kb; unlimited is infinity.
#include <array>
#include <limits>

#include "base/strings.h"
#include "formats/facts/quantity.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

struct LimitName {
  char flag;              // of ulimit
  std::string_view proc;  // in /proc/PID/limits
  std::string_view systemd;
  std::string_view key;
  bool bytes_in_proc;  // proc and systemd count bytes where ulimit counts kbytes
};
constexpr std::array<LimitName, 6> kNames{{
    {'l', "Max locked memory", "LimitMEMLOCK", "limit.memlock_kb", true},
    {'n', "Max open files", "LimitNOFILE", "limit.nofile", false},
    {'u', "Max processes", "LimitNPROC", "limit.nproc", false},
    {'s', "Max stack size", "LimitSTACK", "limit.stack_kb", true},
    {'v', "Max address space", "LimitAS", "limit.as_kb", true},
    {'c', "Max core file size", "LimitCORE", "limit.core_kb", true},
}};

double scaled(double number, bool bytes) { return bytes ? number / 1024 : number; }

bool ulimit_line(std::string_view line, FactWriter& facts) {
  // "... (kbytes, -l) 8192", "ulimit -l: 8192", "ulimit -l = unlimited"
  auto at = line.find(", -");
  std::size_t flag_at = at == std::string_view::npos ? line.find("(-") : at + 1;
  bool parenthesis = true;
  if (flag_at == std::string_view::npos) {
    at = line.find("ulimit -");
    if (at == std::string_view::npos) return false;
    flag_at = at + 6;
    parenthesis = false;
  }
  if (flag_at + 2 >= line.size()) return false;
  const char flag = line[flag_at + 2];
  const auto close = parenthesis ? line.find(')', flag_at) : flag_at + 2;
  if (close == std::string_view::npos || close - flag_at > 4) return false;
  auto rest = base::trim(line.substr(close + 1));
  while (!rest.empty() && (rest[0] == ':' || rest[0] == '=')) rest = base::trim(rest.substr(1));
  const auto value = quantity(rest.substr(0, rest.find_first_of(" \t")));
  if (!value) return false;
  for (const auto& name : kNames) {
    if (name.flag == flag) facts.add(name.key, value->value, rest);
  }
  return true;
}

bool proc_line(std::string_view line, FactWriter& facts) {
  if (line.starts_with("Limit ") && line.find("Soft Limit") != std::string_view::npos) return true;
  if (!line.starts_with("Max ")) return false;
  for (const auto& name : kNames) {
    if (!line.starts_with(name.proc)) continue;
    const auto fields = base::split_blanks(line.substr(name.proc.size()));
    if (fields.size() < 2) return false;
    const auto soft = quantity(fields[0]);
    if (!soft || !quantity(fields[1])) return false;
    facts.add(name.key, scaled(soft->value, name.bytes_in_proc), fields[0]);
    return true;
  }
  return base::split_blanks(line).size() >= 4;
}

bool systemd_line(std::string_view line, FactWriter& facts) {
  for (const auto& name : kNames) {
    if (!line.starts_with(name.systemd)) continue;
    auto rest = line.substr(name.systemd.size());
    std::string key(name.key);
    if (rest.starts_with("Soft")) rest.remove_prefix(4);
    if (!rest.starts_with('=')) return false;
    const auto value = quantity(rest.substr(1));
    if (!value) return false;
    facts.set_context("systemd unit");
    facts.add(key, scaled(value->value, name.bytes_in_proc), rest.substr(1));
    return true;
  }
  return false;
}

class Limits final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto body = base::trim(line);
    return proc_line(body, facts) || systemd_line(body, facts) || ulimit_line(body, facts);
  }
};

}  // namespace

std::unique_ptr<Recogniser> make_limits() { return std::make_unique<Limits>(); }

}  // namespace holter::formats::facts
