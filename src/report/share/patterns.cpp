// SPDX-License-Identifier: Apache-2.0
#include "report/share/patterns.h"

namespace holter::report::share {

const std::vector<Pattern>& patterns_around_names() {
  static const RE2 url(R"re((?i)\b([a-z][a-z0-9+.-]*://[^\s"'<>)\]]+))re");
  static const RE2 mail(R"re(([\w.+-]+@[\w-]+(?:\.[\w-]+)+))re");
  static const RE2 login(R"re(\b([\w.-]+@[\w.-]*[A-Za-z][\w.-]*))re");
  // A part of a Windows path may hold blanks when another part follows.
  static const RE2 drive(
      R"re((?:^|[^\w])([A-Za-z]:\\{1,2}(?:[^\s\\"'<>|:*?]+(?: [^\s\\"'<>|:*?]+)*\\{1,2})*[^\s\\"'<>|:*?,;)]*))re");
  static const RE2 share(
      R"re((?:^|[^\\\w])(\\{2,4}[A-Za-z0-9][\w.$-]*\\{1,2}(?:[^\s\\"'<>|:*?]+(?: [^\s\\"'<>|:*?]+)*\\{1,2})*[^\s\\"'<>|:*?,;)]*))re");
  static const std::vector<Pattern> all{
      {"URL", &url}, {"USER", &mail}, {"USER", &login}, {"PATH", &drive}, {"PATH", &share}};
  return all;
}

const std::vector<const RE2*>& secret_patterns() {
  // A key ends in the word: "HF_TOKEN=", "secret_key:", but no "tokens:" and no host "secret-3:".
  static const RE2 secret_field(
      R"re((?i)(?:^|[^\w-])(?:[\w.-]*[_.-])?(?:token|secret(?:[_-]?(?:access[_-]?)?key)?|passw(?:or)?d|passphrase|pwd|api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key|authorization|credentials?|serial(?:[ _-]number)?)["']?\s*[=:]\s*(?:bearer\s+|basic\s+)?["']?([^\s"',;]+))re");
  static const RE2 secret_flag(
      R"re((?i)--[\w-]*(?:token|secret|passw(?:or)?d|api-?key)(?:-(?:key|file|id))?\s+([^\s"']+))re");
  static const RE2 secret_shape(
      R"re(\b((?:hf_|gh[pousr]_|github_pat_|glpat-|sk-|xox[abp]-|AKIA|ASIA|eyJ)[A-Za-z0-9_.\-]{8,}))re");
  static const std::vector<const RE2*> all{&secret_field, &secret_flag, &secret_shape};
  return all;
}

const std::vector<Pattern>& patterns_after_names() {
  static const RE2 uuid(R"re(([0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}))re");
  static const RE2 long_hex(R"re(\b(?:0x)?([0-9a-fA-F]{32,})\b)re");
  static const RE2 guid(R"re(\b(0x[0-9a-fA-F]{15,16})\b)re");
  static const RE2 guid_groups(R"re(\b([0-9a-fA-F]{4}:[0-9a-fA-F]{4}:[0-9a-fA-F]{4}:[0-9a-fA-F]{4})\b)re");
  static const RE2 mac(R"re(\b((?:[0-9a-fA-F]{2}[:-]){5,7}[0-9a-fA-F]{2})\b)re");
  static const RE2 ip6(R"re(((?i)\b(?:fe80|f[cd][0-9a-f]{2}|[23][0-9a-f]{3})(?::[0-9a-f]{0,4}){2,7}))re");
  static const RE2 ip4(
      R"re((?:^|[^0-9A-Za-z.])((?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3})(?:$|[^0-9A-Za-z]))re");
  static const RE2 ip4_joined(
      R"re((?:^|[^0-9A-Za-z])((?:10|172[_-](?:1[6-9]|2\d|3[01])|192[_-]168)(?:[_-](?:25[0-5]|2[0-4]\d|1?\d?\d)){2,3})(?:$|[^0-9A-Za-z_-]))re");
  static const RE2 domain(
      R"re((?i)\b((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|net|org|edu|gov|io|ai|dev|cloud|internal|intra|local|lan|corp|cluster|svc|ch|de|eu|uk|fr|jp|cn|kr|in|us))\b)re");
  static const std::vector<Pattern> all{{"SECRET", secret_patterns()[0]},
                                        {"SECRET", secret_patterns()[1]},
                                        {"SECRET", secret_patterns()[2]},
                                        {"UUID", &uuid},
                                        {"SECRET", &long_hex},
                                        {"ADDR", &guid},
                                        {"ADDR", &guid_groups},
                                        {"ADDR", &mac},
                                        {"ADDR", &ip6},
                                        {"ADDR", &ip4},
                                        {"ADDR", &ip4_joined},
                                        {"NODE", &domain}};
  return all;
}

const RE2& path_pattern() {
  static const RE2 pattern(
      R"re((?:^|[^\w/<])((?:~\w*|\.{1,2})?(?:/[\w.@%+=~-]+)+/?|(?:[\w.@%+=-]+/)*[\w@%+=-][\w.@%+=-]*\.(?:py|pyx|ipynb|so|cc|cpp|cu|cuh|c|h|hpp|rs|go|sh|sbatch|slurm|ya?ml|jsonl?|toml|ini|cfg|conf|log|txt|out|err|pt|pth|ckpt|bin|idx|npy|npz|safetensors|distcp|parquet|tar|gz|zst|xz|csv|pkl|dmesg)\b))re");
  return pattern;
}

}  // namespace holter::report::share
