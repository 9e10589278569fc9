// SPDX-License-Identifier: Apache-2.0
// systemctl status, `ss -tnlp`, cgroup cpu.stat. Facts service.state ("active (running)") and
// service.since with the unit as subject; listen.port (number) with the process as value;
// cgroup.nr_throttled and the like.
#include <re2/re2.h>

#include "base/strings.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

std::string_view sv(re2::StringPiece p) { return {p.data(), p.size()}; }
re2::StringPiece piece(std::string_view s) { return {s.data(), s.size()}; }

class Services final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto body = base::trim(line);
    return unit(body) || state(body, facts) || one_line(body, facts) || listen(body, facts) || cpu_stat(body, facts);
  }

 private:
  bool unit(std::string_view body) {
    static const re2::RE2 head(R"(^(?:● |\* |× |○ )?([\w@.-]+\.service)(?: - .*)?$)");
    re2::StringPiece name;
    if (!re2::RE2::FullMatch(piece(body), head, &name)) return false;
    unit_ = std::string(sv(name).substr(0, sv(name).size() - 8));
    return true;
  }

  bool state(std::string_view body, FactWriter& facts) const {
    if (unit_.empty()) return false;
    static const re2::RE2 active(R"(^Active: (\w+(?: \([^)]*\))?)(?: since (.*))?.*$)");
    re2::StringPiece value, since;
    if (re2::RE2::FullMatch(piece(body), active, &value, &since)) {
      facts.add("service.state", sv(value), unit_);
      if (!since.empty()) facts.add("service.since", sv(since), unit_).has_number = false;
      return true;
    }
    for (const std::string_view name :
         {"Loaded:", "Process:", "Main PID:", "Tasks:", "Memory:", "CPU:", "CGroup:", "Docs:"}) {
      if (body.starts_with(name)) return true;
    }
    return false;
  }

  // `systemctl is-active` written down: "nvidia-fabricmanager: inactive", "slurmd.service failed"
  static bool one_line(std::string_view body, FactWriter& facts) {
    static const re2::RE2 row(
        R"(^([\w@-]+?)(?:\.service)?(?:: ?| +|=)(active|inactive|failed|activating|deactivating|not-found|masked|disabled)( \([\w-]+\))?(?: (?:since )?(.*))?$)");
    re2::StringPiece name, value, detail, rest;
    if (!re2::RE2::FullMatch(piece(body), row, &name, &value, &detail, &rest)) return false;
    if (sv(name) == "Active" || sv(name) == "State" || sv(name) == "state") return false;
    facts.add("service.state", std::string(sv(value)) + std::string(sv(detail)), sv(name));
    return true;
  }

  static bool listen(std::string_view body, FactWriter& facts) {
    if (body.starts_with("State") && body.find("Recv-Q") != std::string_view::npos) return true;
    static const re2::RE2 row(
        R"re(^(?:tcp\s+)?LISTEN\s+\d+\s+\d+\s+(\S+):(\d+)\s+\S+(?:\s+users:\(\("([^"]+)",pid=(\d+).*)?$)re");
    re2::StringPiece address, port, process, pid;
    if (!re2::RE2::FullMatch(piece(body), row, &address, &port, &process, &pid)) return false;
    const std::string who = process.empty() ? "" : std::string(sv(process)) + " pid " + std::string(sv(pid));
    facts.add("listen.port", base::to_double(sv(port)).value_or(0), who, sv(address));
    return true;
  }

  static bool cpu_stat(std::string_view body, FactWriter& facts) {
    static const re2::RE2 row(
        R"(^(?:\S*:)?(nr_periods|nr_throttled|throttled_usec|throttled_time|usage_usec|user_usec|system_usec)[ :=]+(\d+)$)");
    re2::StringPiece name, value;
    if (!re2::RE2::FullMatch(piece(body), row, &name, &value)) return false;
    facts.add("cgroup." + std::string(sv(name)), sv(value));
    return true;
  }

  std::string unit_;
};

}  // namespace

std::unique_ptr<Recogniser> make_services() { return std::make_unique<Services>(); }

}  // namespace holter::formats::facts
