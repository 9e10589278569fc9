// SPDX-License-Identifier: Apache-2.0
#include "report/share.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/strings.h"
#include "report/each_text.h"

namespace holter::report {

namespace {

// Placeholders stand between these while a text is worked on, so that no later rule looks into them.
constexpr char kOpen = '\x01', kClose = '\x02';

struct Rule {
  const char* kind;
  const RE2* pattern;  // group 1 is replaced
};

const std::vector<Rule>& rules() {
  static const RE2 kSecretField(
      R"re((?i)\b[\w-]*(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|authorization|credential|serial(?: number)?)[\w-]*["']?\s*[=:]\s*(?:bearer\s+|basic\s+)?["']?([^\s"',;]+))re");
  static const RE2 kSecretFlag(R"re((?i)--?[\w-]*(?:token|secret|passw(?:or)?d|api-?key)[\w-]*\s+([^\s"']+))re");
  static const RE2 kSecretShape(
      R"re(\b((?:hf_|gh[pousr]_|github_pat_|glpat-|sk-|xox[abp]-|AKIA|ASIA|eyJ)[A-Za-z0-9_.\-]{8,}))re");
  static const RE2 kUrl(R"re(\b([a-z][a-z0-9+.-]*://[^\s"'<>)\]]+))re");
  static const RE2 kMail(R"re(([\w.+-]+@[\w-]+(?:\.[\w-]+)+))re");
  static const RE2 kLogin(R"re(\b([\w.-]+@[\w.-]*[A-Za-z][\w.-]*))re");
  static const RE2 kUuid(R"re(([0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}))re");
  static const RE2 kLongHex(R"re(\b(?:0x)?([0-9a-fA-F]{32,})\b)re");
  static const RE2 kGuid(R"re(\b(0x[0-9a-fA-F]{15,16})\b)re");
  static const RE2 kGuidGroups(R"re(\b([0-9a-fA-F]{4}:[0-9a-fA-F]{4}:[0-9a-fA-F]{4}:[0-9a-fA-F]{4})\b)re");
  static const RE2 kMac(R"re(\b((?:[0-9a-fA-F]{2}[:-]){5,7}[0-9a-fA-F]{2})\b)re");
  static const RE2 kIp6(R"re(((?i)\b(?:fe80|f[cd][0-9a-f]{2}|[23][0-9a-f]{3})(?::[0-9a-f]{0,4}){2,7}))re");
  static const RE2 kIp4(R"re(\b((?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3})\b)re");
  static const RE2 kUser(R"re((?i)\b(?:user(?:name)?|login|owner|logname)["']?\s*[=:]\s*["']?([A-Za-z_][\w.-]*))re");
  static const RE2 kDomain(
      R"re((?i)\b((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|net|org|edu|gov|io|ai|dev|cloud|internal|intra|local|lan|corp|cluster|svc|ch|de|eu|uk|fr|jp|cn|kr|in|us))\b)re");
  static const std::vector<Rule> all{
      {"SECRET", &kSecretField}, {"SECRET", &kSecretFlag}, {"SECRET", &kSecretShape}, {"URL", &kUrl},
      {"USER", &kMail},          {"USER", &kLogin},        {"UUID", &kUuid},          {"SECRET", &kLongHex},
      {"ADDR", &kGuid},          {"ADDR", &kGuidGroups},   {"ADDR", &kMac},           {"ADDR", &kIp6},
      {"ADDR", &kIp4},           {"USER", &kUser},         {"NODE", &kDomain}};
  return all;
}

// Paths, absolute or relative with an extension.
const RE2& path_pattern() {
  static const RE2 pattern(
      R"re((?:^|[^\w/])((?:~|\.{1,2})?(?:/[\w.@%+=~-]+)+/?|(?:[\w.@%+=-]+/)*[\w@%+=-][\w.@%+=-]*\.(?:py|pyx|ipynb|so|cc|cpp|cu|cuh|c|h|hpp|rs|go|sh|sbatch|slurm|ya?ml|json|toml|ini|cfg|conf|log|txt|out|err|pt|pth|ckpt|bin|idx|safetensors|parquet|tar|gz|zst|xz|csv|pkl|dmesg)\b))re");
  return pattern;
}

bool is_public_package(std::string_view name) {
  static const std::set<std::string_view> all{
      "torch",        "torchvision",   "numpy",    "nccl",     "megatron",        "deepspeed",    "transformers",
      "vllm",         "sglang",        "triton",   "jax",      "tensorflow",      "apex",         "flash_attn",
      "accelerate",   "lightning",     "ray",      "datasets", "multiprocessing", "threading.py", "socket.py",
      "selectors.py", "subprocess.py", "queue.py", "asyncio",  "concurrent",      "python3"};
  return all.contains(name);
}

// The part of a path that everybody has: from the package of a public library on, or a place of the
// system that tells the kind of device. "" when there is none.
std::string_view public_tail(std::string_view path) {
  for (const std::string_view system : {"/dev/", "/proc/", "/sys/"}) {
    if (path.starts_with(system)) return path;
  }
  std::string_view rest = path;
  for (const std::string_view folder : {"site-packages/", "dist-packages/"}) {
    if (const auto at = path.find(folder); at != std::string_view::npos) rest = path.substr(at + folder.size());
  }
  const bool standard = rest.data() != path.data() || !path.starts_with('/');
  return standard && is_public_package(rest.substr(0, rest.find('/'))) ? rest : std::string_view();
}

bool is_library(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  return name.starts_with("lib") && name.find(".so") != std::string_view::npos;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

class Scrubber {
 public:
  void learn(std::string_view kind, std::string_view name) {
    if (name.size() < 2 || name == "localhost" || base::to_int<std::int64_t>(name)) return;
    const Known known{std::string(kind), std::string(name)};
    if (!known_.emplace(std::string(name), known).second) return;
    placeholder(kind, name);  // numbers follow the order of the report
    // A host answers to its short name too.
    if (const auto dot = name.find('.');
        kind == "NODE" && dot != std::string_view::npos && !base::to_int<int>(name.substr(0, dot))) {
      known_.emplace(std::string(name.substr(0, dot)), known);
    }
  }
  // Users are learnt from home folders in any text.
  void learn_users(std::string_view text) {
    static const RE2 kHome(R"re(/(?:home|users|Users)/([A-Za-z_][\w.-]*))re");
    std::string name;
    re2::StringPiece rest(text.data(), text.size());
    while (RE2::FindAndConsume(&rest, kHome, &name)) {
      if (name.size() >= 3) learn("USER", name);
    }
  }
  void close() {
    names_.assign(known_.begin(), known_.end());
    std::stable_sort(names_.begin(), names_.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  }

  void text(std::string& value) {
    if (value.empty()) return;
    std::erase_if(value, [](char c) { return c == kOpen || c == kClose; });
    for (const auto& [name, known] : names_) {
      if (known.kind == "FILE") replace_word(value, name, file(name));
    }
    for (const auto& rule : rules()) {
      outside(value, *rule.pattern, [&](std::string_view found) { return placeholder(rule.kind, found); });
    }
    outside(value, path_pattern(), [&](std::string_view found) { return path(found); });
    for (const auto& [name, known] : names_) {
      if (known.kind != "FILE") replace_word(value, name, placeholder(known.kind, known.name));
    }
    std::erase_if(value, [](char c) { return c == kOpen || c == kClose; });
  }

  // "logs/gn7-rank3.log" -> "FILE-1-rank3.log": the rank and the extension tell the reader what it was.
  std::string file(std::string_view name) {
    static const RE2 kRank(R"re((?i)(?:^|[^a-z])(rank[_-]?\d+))re");
    std::string rank, out = placeholder("FILE", name);
    out.pop_back();
    if (RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), kRank, &rank)) out += "-" + base::lower(rank);
    return out + extension(name) + kClose;
  }

 private:
  static std::string extension(std::string_view path) {
    const auto name = path.substr(path.rfind('/') + 1);
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0 || name.size() - dot > 8) return "";
    return std::string(name.substr(dot));
  }
  std::string path(std::string_view found) {
    if (found.find_first_not_of("/.~") == std::string_view::npos || is_library(found)) {
      return is_library(found) ? std::string(found.substr(found.rfind('/') + 1)) : std::string(found);
    }
    if (const auto tail = public_tail(found); !tail.empty()) return std::string(tail);
    std::string out = placeholder("PATH", found);
    out.pop_back();
    return out + extension(found) + kClose;
  }
  std::string placeholder(std::string_view kind, std::string_view name) {
    auto& number = numbers_[std::string(kind) + '\0' + std::string(name)];
    if (number == 0) number = ++counts_[std::string(kind)];
    return fmt::format("{}{}-{}{}", kOpen, kind, number, kClose);
  }

  // Replaces group 1 of every match that lies outside placeholders.
  template <typename Replace>
  void outside(std::string& value, const RE2& pattern, Replace replace) {
    std::string out;
    std::size_t from = 0;
    re2::StringPiece groups[2];
    while (from < value.size() && pattern.Match(value, from, value.size(), RE2::UNANCHORED, groups, 2)) {
      const auto start = static_cast<std::size_t>(groups[1].data() - value.data());
      const std::size_t end = start + groups[1].size();
      const bool touches = value.find(kOpen, start) < end || inside(value, start);
      if (end == start) break;
      out.append(value, from, start - from);
      out += touches ? value.substr(start, end - start) : replace(std::string_view(value).substr(start, end - start));
      from = end;
    }
    if (from < value.size()) out.append(value, from, std::string::npos);
    value = std::move(out);
  }
  static bool inside(std::string_view value, std::size_t at) {
    const auto open = value.rfind(kOpen, at), close = value.rfind(kClose, at);
    return open != std::string_view::npos && (close == std::string_view::npos || close < open);
  }
  void replace_word(std::string& value, const std::string& name, const std::string& by) {
    for (auto at = value.find(name); at != std::string::npos; at = value.find(name, at)) {
      const std::size_t end = at + name.size();
      const bool word = (at == 0 || !is_word(value[at - 1])) && (end == value.size() || !is_word(value[end]));
      if (!word || inside(value, at)) {
        ++at;
        continue;
      }
      value.replace(at, name.size(), by);
      at += by.size();
    }
  }

  struct Known {
    std::string kind, name;  // name: the full one
  };
  std::map<std::string, Known> known_;
  std::vector<std::pair<std::string, Known>> names_;  // longest first
  std::map<std::string, int> numbers_, counts_;
};

void learn(Scrubber& s, model::Report& r) {
  for (const auto& name : r.job.nodes) s.learn("NODE", name);
  for (const auto& name : r.decision.exclude_nodes) s.learn("NODE", name);
  for (const auto& name : r.impact.jobs) s.learn("JOB", name);
  for (const auto& f : r.evidence.files) s.learn("FILE", f.path);
  for (const auto& f : r.findings) {
    for (const auto& name : f.exclude_nodes) s.learn("NODE", name);
    for (const auto& c : f.culprits) {
      s.learn("NODE", c.node);
      if (c.kind == model::CulpritKind::kNode) s.learn("NODE", c.name);
      if (c.kind == model::CulpritKind::kLink && c.peer.find(' ') == std::string::npos) s.learn("NODE", c.peer);
    }
  }
  each_text(r, [&](std::string& text) { s.learn_users(text); });
  // A citation may name a file that the list of files does not hold.
  const auto sources = [&](const std::vector<model::Citation>& all) {
    for (const auto& c : all) s.learn("FILE", c.source);
  };
  for (const auto& f : r.findings) sources(f.evidence), sources(f.against);
  for (const auto& x : r.ruled_out) sources(x.evidence);
  s.close();
}

}  // namespace

struct SharedNames::Impl {
  Scrubber scrubber;
};

SharedNames::SharedNames(model::Report& report) : impl_(std::make_unique<Impl>()) {
  learn(impl_->scrubber, report);
  const std::string version = report.tool_version;  // ours, and shaped like an address
  each_text(report, [&](std::string& text) { impl_->scrubber.text(text); });
  report.tool_version = version;
}
SharedNames::~SharedNames() = default;
SharedNames::SharedNames(SharedNames&&) noexcept = default;

std::string SharedNames::scrub(std::string_view text) {
  std::string out(text);
  impl_->scrubber.text(out);
  return out;
}

void scrub(model::Report& report) { const SharedNames names(report); }

}  // namespace holter::report
