// SPDX-License-Identifier: Apache-2.0
#include "report/share/contexts.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/strings.h"
#include "report/share/code.h"
#include "report/share/vocabulary.h"

namespace holter::report::share {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

enum class Trust { kWeak, kStrong };
struct Context {
  const char* kind;
  Trust trust;
  std::unique_ptr<const RE2> pattern;  // group 1 is the name
};

const std::vector<Context>& user_contexts() {
  static const std::vector<Context> all = [] {
    std::vector<Context> out;
    const auto add = [&](const char* text) {
      out.push_back({"USER", Trust::kStrong, std::make_unique<const RE2>(text)});
    };
    add(R"re((?i)\b[\w.-]*(?:user(?:[_-]?name|[_-]?id)?|login|logname|owner|run_?as(?:[_-]?user)?|submitter|account)["']?\s*[=:]\s*["']?([a-z_][\w.+-]*))re");
    add(R"re((?i)\b(?:uid[ =:]+(?:\d+ ?\()?|gid=\d+ ?\()([a-z_][\w.-]*))re");
    add(R"re((?i)\b(?:by|for|as|of|from) user ["']?([a-z_][\w.-]*))re");
    add(R"re((?i)\b(?:submitted|launched|owned) by ["']?([a-z_][\w.-]*))re");
    add(R"re((?i)\b[a-z][a-z0-9+.-]*://([\w.~%+-]+)(?::[^@\s/]*)?@)re");
    out.push_back({"LOGIN", Trust::kStrong,
                   std::make_unique<const RE2>(R"re((?:^|[^\w.@-])([A-Za-z_][\w.-]*@[A-Za-z][\w.-]*))re")});
    add(R"re((?i)[/\\](?:home|users)[/\\]+([a-z_][\w.-]*))re");
    return out;
  }();
  return all;
}

const std::vector<Context>& job_contexts() {
  static const std::vector<Context> all = [] {
    std::vector<Context> out;
    const auto add = [&](const char* kind, const char* text) {
      out.push_back({kind, Trust::kStrong, std::make_unique<const RE2>(text)});
    };
    add("JOB",
        R"re((?i)\b[\w.-]*(?:job[_ -]?name|run[_ -]?name|run[_-]id|experiment(?:[_ -]?name)?|exp[_-]?name|wandb[_-](?:project|entity|name|group|run[_-]?\w*)|namespace|pod(?:[_-]?name)?|workflow|study[_-]?name|project(?:[_-]?name)?|tenant)["']?\s*[=:]\s*["']?([a-z][\w./-]*))re");
    add("JOB",
        R"re((?i)--(?:job|run|exp(?:eriment)?|project|wandb|study)(?:[_-](?:name|id|project|entity|group|run|exp-name))*\s+["']?([a-z][\w./-]*))re");
    add("JOB", R"re(\bs(?:batch|run|alloc)\b[^\n]*\s-J\s*["']?([\w./-]+))re");
    add("JOB", R"re((?i)\bpods?[ /:]+["']?([a-z0-9][a-z0-9-]*-[a-z0-9-]*[a-z0-9](?:/[a-z0-9][a-z0-9.-]*)?)\b)re");
    add("JOB", R"re((?i)\bpods?[ :]+["']?([a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9.-]*))re");
    add("MODEL",
        R"re((?i)\b[\w.-]*(?:model|checkpoint|ckpt|tokenizer|dataset|repo|pretrained|adapter|lora|serve)[\w-]*["']?(?:\s*[=:(]\s*|\s+)["']?([a-z0-9][\w.-]*/[a-z0-9][\w.-]*[\w]))re");
    add("MODEL", R"re((?:^|[^\w/.-])([A-Za-z0-9][\w.-]*/[A-Za-z][\w.]*-[\w.-]*[A-Z0-9][\w.-]*)(?:$|[^\w/.-]))re");
    add("MODEL",
        R"re((?i)\b(?:served[_-]?model[_-]?name|model[_-]name|model[_-]id)["']?(?:\s*[=:]\s*|\s+)["']?([a-z0-9][\w.-]*[\d_-][\w.-]*\w))re");
    return out;
  }();
  return all;
}

const std::vector<Context>& host_contexts() {
  static const std::vector<Context> all = [] {
    std::vector<Context> out;
    const auto add = [&](Trust trust, const char* text) {
      out.push_back({"NODE", trust, std::make_unique<const RE2>(text)});
    };
    add(Trust::kStrong,
        R"re((?i)\b[\w.-]*(?:host(?:s|_?names?)?|node_?(?:name|list|addr)|nodes|master[_-]?addr|rdzv[_-]endpoint|machine|sourcehost)["']?(?:\s*[=:]\s*|=)\[?["']?([a-z][\w.,-]*(?:\[[\d,-]+\])?[\w.,-]*(?:\[[\d,-]+\])?))re");
    add(Trust::kStrong,
        R"re((?i)--(?:master[_-]addr|node-?list|rdzv[_-]endpoint|host(?:s|name)?)[ =]+([a-z][\w.,-]*(?:\[[\d,-]+\])?))re");
    add(Trust::kStrong,
        R"re((?m)^(?:<\d+>)?(?:[A-Z][a-z]{2}\s+\d+\s+[\d:]{8}|\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)\s+([A-Za-z][\w.-]*)\s+[\w./()-]+(?:\[\d+\])?:)re");
    add(Trust::kStrong, R"re(([A-Za-z][\w.-]*):\d+:\d+ \[\d*\] ?(?:NCCL|RCCL|[\w./]+:\d+))re");
    add(Trust::kStrong, R"re(\bLinux ([A-Za-z][\w.-]*) \d+\.\d+)re");
    add(Trust::kStrong, R"re(\bJOB \d+[^\n]* ON ([a-z][\w.-]*) CANCELLED)re");
    add(Trust::kStrong, R"re(\b(?:srun|slurmd|slurmstepd|sbatch)[^\n]*?: error: ([a-z][\w.-]*): task)re");
    add(Trust::kStrong, R"re(://(?:[^@\s/]*@)?([A-Za-z][\w.-]*))re");
    add(Trust::kStrong,
        R"re((?i)\b(?:host|node|machine) ["']?([a-z][\w-]+)["']? (?:is|was|went|has|had|rebooted|unreachable|not|does|did|down|crashed|drained|lost)\b)re");
    add(Trust::kWeak, R"re((?i)\b(?:host|node|machine|server)s?(?: name)?[ :]+["'(\[]?([a-z][\w.,-]*\d[\w.,-]*))re");
    add(Trust::kWeak, R"re(\[([A-Za-z][\w.-]*)\]:\d{2,5}\b)re");
    add(Trust::kWeak, R"re([(\[](?:host:)?([A-Za-z][\w.-]*)(?:, |:)\d{3,7}[)\]])re");
    add(Trust::kWeak, R"re(\b([A-Za-z][\w-]*\d[\w.-]*):\d{4,5}\b)re");
    add(Trust::kWeak, R"re((?m)^([A-Za-z][\w-]*\d[\w.-]*): )re");
    add(Trust::kStrong, R"re((?i)\b(ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.[\w-]+)*))re");
    return out;
  }();
  return all;
}

const std::vector<Context>& process_contexts() {
  static const std::vector<Context> all = [] {
    std::vector<Context> out;
    const auto add = [&](const char* kind, const char* text) {
      out.push_back({kind, Trust::kStrong, std::make_unique<const RE2>(text)});
    };
    add("PROC", R"re(\bXid\b[^\n]*?\bname=([^,;\s]+))re");
    add("PROC", R"re(\bKill(?:ed)? process \d+,? ?\(([^)]+)\))re");
    add("PROC", R"re((?i)\b(?:process|pid) \d+,? \(([A-Za-z][^)\s]*)\))re");
    add("PROC", R"re(\(pid \d+,? ([A-Za-z][^)\s,]*)\))re");
    add("PROC", R"re(\btask=([^,;\s]+),pid=)re");
    add("PROC", R"re(([^\s\]:]+) invoked oom-killer)re");
    add("PROC", R"re(\bComm: (\S+))re");
    add("PROC", R"re(([\w.+:-]+)\[\d+\]: segfault)re");
    add("PROC", R"re(\btask ([^\s:]+):\d+ (?:blocked|is blocked))re");
    add("PROC", R"re(users:\(\("([^"]+)")re");
    add("PROC", R"re((?m)^\s+Name\s+:\s+([^\s/][^\n]*[^\s]))re");
    add("PROC", R"re(<process_name>([^</]+)</process_name>)re");
    add("PROC", R"re((?m)^\|\s+\d+\s+\S+\s+\S+\s+\d+\s+[CGM+]+\s+([^\s/|]+))re");
    add("MODULE", R"re(\bNo module named ["']([\w.]+))re");
    add("MODULE", R"re(\bcannot import name ["']\w+["'] from ["']([\w.]+))re");
    add("GROUP", R"re(\bPG GUID:? ?[\w-]+\(([^)\s]+)\))re");
    add("GROUP",
        R"re((?i)(?:process_group|pg_desc|group_desc|group_name)["']?\s*[=:]\s*[\[(]?(?:["']\d+["'],\s*)?["']([^"']+)["'])re");
    return out;
  }();
  return all;
}

std::string_view trimmed(std::string_view name) {
  while (!name.empty() && std::string_view(".,:-/").find(name.back()) != std::string_view::npos) name.remove_suffix(1);
  return name;
}

// "gpu-a[12-15,20]" -> gpu-a12 ... ; bounded.
void expand(std::string_view name, const Learn& learn) {
  const auto open = name.find('['), close = name.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return learn("NODE", name);
  const auto prefix = name.substr(0, open), suffix = name.substr(close + 1);
  learn("NODE", name);
  std::size_t made = 0;
  for (const auto range : base::split(name.substr(open + 1, close - open - 1), ',')) {
    const auto dash = range.find('-');
    const auto first = base::to_int<std::uint32_t>(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : base::to_int<std::uint32_t>(range.substr(dash + 1));
    const auto width = range.substr(0, dash).size();
    if (!first || !last) continue;
    for (std::uint64_t n = *first; n <= *last && made < 4096; ++n, ++made) {
      learn("NODE", fmt::format("{}{:0{}}{}", prefix, n, width, suffix));
    }
  }
}

// "gpu-a[12-15],gn7": at commas outside brackets.
void each_host(std::string_view list, const std::function<void(std::string_view)>& visit) {
  std::size_t from = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    if (i > from) visit(trimmed(list.substr(from, i - from)));
    from = i + 1;
  }
}

void learn_host(std::string_view found, Trust trust, const Learn& learn) {
  each_host(found, [&](std::string_view name) {
    if (is_plausible_host(name.substr(0, name.find('[')), trust == Trust::kStrong)) expand(name, learn);
  });
}

// A pod with its namespace, a model with its owner: the parts stand alone elsewhere.
void learn_parts(std::string_view kind, std::string_view name, const Learn& learn) {
  learn(kind, name);
  if (name.find('/') == std::string_view::npos) return;
  for (const auto part : base::split(name, '/')) {
    if (part.size() > 2 && !is_ordinary_phrase(part)) learn(kind, part);
  }
}

// "bob@gn7"; the host tells it from "memcpy@GLIBC_2.14".
void learn_login(std::string_view login, const Learn& learn) {
  const auto at = login.find('@');
  const auto user = login.substr(0, at), host = trimmed(login.substr(at + 1));
  if (!is_plausible_host(host, true)) return;
  learn("NODE", host);
  if (!is_system_user(user) && !is_ordinary_phrase(user)) learn("USER", user);
}

void accept(const Context& context, std::string_view found, const Learn& learn) {
  const std::string_view kind = context.kind;
  if (kind == "NODE") return learn_host(found, context.trust, learn);
  if (kind == "LOGIN") return learn_login(found, learn);
  const auto name = trimmed(found);
  if (name.size() < 2) return;
  if (kind == "GROUP") return is_ordinary_phrase(name) ? void() : learn(kind, name);
  if (kind == "PROC") return is_common_process(name) ? void() : learn(kind, name);
  if (kind == "MODULE") {
    const auto top = name.substr(0, name.find('.'));
    return is_public_package(top) || is_ordinary(top) ? void() : learn(kind, top);
  }
  if (is_ordinary_phrase(name)) return;
  if (kind == "USER") return is_system_user(name) || known_extension(name).size() > 0 ? void() : learn(kind, name);
  const auto owner = name.substr(0, name.find('/'));  // "pod/x-1" is no model
  if (kind == "MODEL" && owner.size() < name.size() && is_ordinary(owner)) return;
  learn_parts(kind, name, learn);
}

void find_in(std::string_view text, const std::vector<Context>& contexts, const Learn& learn) {
  for (const auto& context : contexts) {
    re2::StringPiece groups[2];
    const re2::StringPiece all(text.data(), text.size());
    std::size_t from = 0;
    while (from < text.size() && context.pattern->Match(all, from, text.size(), RE2::UNANCHORED, groups, 2)) {
      const std::string_view found(groups[1].data(), groups[1].size());
      if (found.empty()) break;
      accept(context, found, learn);
      from = static_cast<std::size_t>(found.data() - text.data()) + found.size();
    }
  }
}

}  // namespace

bool is_plausible_host(std::string_view name, bool strong) {
  if (name.size() < 2 || name.size() > 255 || std::count_if(name.begin(), name.end(), is_alpha) == 0) return false;
  const auto valid = [](char c) { return is_alpha(c) || is_digit(c) || c == '.' || c == '-' || c == '_'; };
  if (!std::all_of(name.begin(), name.end(), valid)) return false;
  const auto label = name.substr(0, name.find('.'));
  if (is_ordinary(label) || is_public_service(label) || name.starts_with("0x") || is_public_site(name)) return false;
  // A host may be called "ib06" where it is named as one.
  if (is_device_or_rank(name) && (!strong || name.starts_with("mlx") || name.starts_with("nvidia-"))) return false;
  if (is_device_or_rank(name) && name.starts_with("rank")) return false;
  if (name.ends_with("Error") || name.ends_with("Exception") || !known_extension(name).empty()) return false;
  if (name.starts_with("GLIBC") || name.starts_with("GCC") || name.starts_with("CUDA") || name == "plt") return false;
  return strong || std::any_of(name.begin(), name.end(), is_digit);
}

void find_names(std::string_view text, const Learn& learn) {
  find_in(text, user_contexts(), learn);
  find_in(text, host_contexts(), learn);
  find_in(text, job_contexts(), learn);
  find_in(text, process_contexts(), learn);
  find_functions(text, [&](std::string_view name) { learn("FUNC", name); });
}

}  // namespace holter::report::share
