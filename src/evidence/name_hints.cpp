// SPDX-License-Identifier: Apache-2.0
#include "evidence/name_hints.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "base/strings.h"

namespace holter::evidence {

namespace {

constexpr std::size_t kMaxDigits = 6;  // longer numbers are dates, times or ids

template <typename List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Words before "rank" that make it a rank of something smaller than the job.
constexpr std::array<std::string_view, 17> kGroupRanks{"local", "tp",   "pp",    "dp",     "mp", "ep",
                                                       "cp",    "sp",   "vp",    "pg",     "dp", "group",
                                                       "comm",  "node", "stage", "expert", "nic"};

// Tools and files whose output is about one node.
constexpr std::array<std::string_view, 52> kNodeSources{
    "dmesg",      "kern",         "kernel",      "kmsg",    "syslog", "messages",  "journal",  "journalctl",
    "nvidia-smi", "nvidia-smi-q", "nvidia_smi",  "nvsmi",   "smi",    "lspci",     "lsmod",    "modprobe",
    "ibstat",     "ibstatus",     "ibv_devinfo", "ethtool", "dcgmi",  "dcgm",      "host_mem", "meminfo",
    "free",       "ss",           "netstat",     "ps",      "top",    "iostat",    "vmstat",   "sar",
    "df",         "mount",        "mounts",      "limits",  "ulimit", "ipmi",      "sel",      "bmc",
    "numactl",    "uname",        "sysctl",      "sensors", "mcelog", "rasdaemon", "topo",     "fabricmanager",
    "nccl_debug", "nccl",         "slurmd",      "kubelet"};

// Beginnings of words with a number that are no hosts.
constexpr std::array<std::string_view, 40> kNoHosts{
    "rank",  "worker", "attempt", "restart", "retry", "gpu",    "cuda", "test",  "run",   "step",
    "epoch", "iter",   "job",     "pid",     "tid",   "thread", "v",    "part",  "dev",   "mlx",
    "nvme",  "eth",    "xid",     "py",      "page",  "dump",   "exp",  "trial", "case",  "issue",
    "h",     "a",      "b",       "gb",      "fp",    "bf",     "int",  "task",  "stage", "attempts"};

// Words before a number that names processes, when the numbers cover 0..n-1.
constexpr std::array<std::string_view, 18> kProcessWords{"",     "dump",    "trace",  "stack",   "stacks", "pyspy",
                                                         "spy",  "log",     "out",    "stdout",  "err",    "stderr",
                                                         "proc", "process", "worker", "trainer", "task",   "r"};

constexpr std::array<std::string_view, 16> kExtensions{".log", ".txt",  ".out",   ".err", ".json", ".jsonl",
                                                       ".csv", ".gz",   ".xz",    ".zst", ".xml",  ".pickle",
                                                       ".pkl", ".html", ".pyspy", ".gdb"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> out;
  while (true) {
    const auto at = path.find_first_of("/!");
    if (at != 0) out.push_back(path.substr(0, at));
    if (at == std::string_view::npos) return out;
    path.remove_prefix(at + 1);
  }
}

std::string_view stem_of(std::string_view leaf) {
  bool again = true;
  while (again) {
    again = false;
    for (const auto extension : kExtensions) {
      if (leaf.size() > extension.size() && leaf.ends_with(extension)) {
        leaf.remove_suffix(extension.size());
        again = true;
      }
    }
  }
  return leaf;
}

std::int32_t number(std::string_view digits) {
  return digits.size() > kMaxDigits ? -1 : base::to_int<std::int32_t>(digits).value_or(-1);
}

// "nccl_trace_rank_gn7_12": PyTorch's prefix with a host before the rank.
bool rank_after_host(std::string_view leaf, NameHint& hint) {
  static const RE2 kPattern(R"((?:^|_)(?:trace|dump)_(?:rank_)?([a-z][a-z0-9.-]*)[_-](?:rank[_-]?)?(\d{1,6})$)");
  std::string host, rank;
  if (!RE2::PartialMatch(stem_of(leaf), kPattern, &host, &rank) || host == "rank") return false;
  hint.rank = number(rank);
  if (std::any_of(host.begin(), host.end(), is_digit)) hint.node = host;
  return true;
}

std::int32_t rank_in(std::string_view part) {
  static const RE2 kRank(R"((?:^|[^a-z])(?:([a-z]+)[_.-]?)?rank[_.=-]?(\d+))");
  static const RE2 kDump(R"(^(?:.*(?:fr|nccl|trace|recorder))?_dump_(\d+)$)");
  re2::StringPiece rest(part.data(), part.size());
  std::string before, digits;
  while (RE2::FindAndConsume(&rest, kRank, &before, &digits)) {
    if (!contains(kGroupRanks, before)) return number(digits);
  }
  if (RE2::FullMatch(stem_of(part), kDump, &digits)) return number(digits);
  return -1;
}

// Eight digits may be a date ("rank_20260101").
bool names_impossible_rank(std::string_view part) {
  static const RE2 kRank(R"((?:^|[^a-z])(?:global[_-]?)?rank[_.=-]?(\d{7}|\d{9,})(?:\D|$))");
  return RE2::PartialMatch(re2::StringPiece(part.data(), part.size()), kRank);
}

std::int32_t attempt_in(std::string_view part) {
  static const RE2 kAttempt(R"((?:^|[^a-z])(?:attempt|restart(?:_count)?|retry)[_.=-]?(\d{1,4})(?:\D|$))");
  std::string digits;
  return RE2::PartialMatch(part, kAttempt, &digits) ? number(digits) : -1;
}

bool is_host_word(std::string_view word) {
  if (word.size() < 2 || word.size() > 80 || !is_letter(word[0])) return false;
  std::size_t letters = 0;
  while (letters < word.size() && is_letter(word[letters])) ++letters;
  if (contains(kNoHosts, word.substr(0, letters))) return false;
  static const RE2 kPlain(R"([a-z][a-z0-9]*(?:-[a-z0-9]+)*)");
  static const RE2 kFull(R"([a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*\.[a-z]{2,})");
  if (RE2::FullMatch(word, kPlain)) return std::any_of(word.begin(), word.end(), is_digit);
  return RE2::FullMatch(word, kFull);
}

std::string address_in(std::string_view part) {
  static const RE2 kAddress(R"((?:^|[^0-9.v])((\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3}))(?:[^0-9]|$))");
  std::string whole;
  std::array<int, 4> octets{};
  if (!RE2::PartialMatch(part, kAddress, &whole, &octets[0], &octets[1], &octets[2], &octets[3])) return {};
  return octets[0] > 0 && std::all_of(octets.begin(), octets.end(), [](int o) { return o < 256; }) ? whole : "";
}

// "node2", "host-3", "ip-10-0-3-17": words that say that they are hosts.
std::string declared_host(std::string_view part) {
  static const RE2 kHost(
      R"((?:^|[^a-z0-9])((?:node|host|dgx|hgx|compute)[_-]?\d{1,5}|ip(?:-\d{1,3}){4})(?:[^a-z0-9]|$))");
  std::string host;
  return RE2::PartialMatch(part, kHost, &host) ? host : std::string();
}

// Cuts a source word with its separator off either end: "dmesg_gn7" -> "gn7".
bool cut_source(std::string_view& stem) {
  const auto separator = [](char c) { return c == '_' || c == '-' || c == '.'; };
  std::size_t longest = 0;
  bool at_front = true;
  for (const auto source : kNodeSources) {
    if (stem.size() <= source.size() + 1 || source.size() <= longest) continue;
    if (stem.starts_with(source) && separator(stem[source.size()])) longest = source.size(), at_front = true;
    if (stem.ends_with(source) && separator(stem[stem.size() - source.size() - 1]))
      longest = source.size(), at_front = false;
  }
  if (longest == 0) return false;
  if (at_front) stem.remove_prefix(longest + 1);
  else stem.remove_suffix(longest + 1);
  return true;
}

bool is_node_source(std::string_view leaf) { return contains(kNodeSources, stem_of(leaf)); }

std::string node_in(const std::vector<std::string_view>& parts) {
  auto stem = stem_of(parts.back());
  static const RE2 kBeforeRank(R"(([a-z][a-z0-9.-]*?)[_.-](?:global[_-]?)?rank[_.-]?\d+.*)");
  static const RE2 kPid(R"((.*[a-z].*)[._]\d+)");
  std::string host;
  if (RE2::FullMatch(stem, kBeforeRank, &host) && is_host_word(host)) return host;
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (auto address = address_in(parts[i]); !address.empty()) return address;
  }
  if (cut_source(stem)) {
    while (cut_source(stem)) {}
    if (is_host_word(stem)) return std::string(stem);
    if (RE2::FullMatch(stem, kPid, &host) && is_host_word(host)) return host;  // NCCL_DEBUG_FILE=nccl.%h.%p
  }
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (auto declared = declared_host(parts[i]); !declared.empty()) return declared;
  }
  if (parts.size() > 1 && is_node_source(parts.back()) && is_host_word(parts[parts.size() - 2])) {
    return std::string(parts[parts.size() - 2]);
  }
  return {};
}

// torchrun: <place>/attempt_<n>/<local rank>/{stdout,stderr}.log or error.json.
void read_torchrun(const std::vector<std::string_view>& parts, NameHint& hint) {
  if (parts.size() < 3) return;
  const auto leaf = parts.back(), folder = parts[parts.size() - 2], above = parts[parts.size() - 3];
  const bool output = leaf.starts_with("stdout") || leaf.starts_with("stderr") || leaf.starts_with("error");
  if (!output || !above.starts_with("attempt_") || !std::all_of(folder.begin(), folder.end(), is_digit)) return;
  hint.local_rank = number(folder);
  for (std::size_t i = 0; i + 3 < parts.size(); ++i) hint.place += std::string(parts[i]) + "/";
}

// A number in a name: the name around it and the word before it.
struct Slot {
  std::string pattern;
  std::string word;
  std::int32_t number;
};

std::vector<Slot> slots_of(std::string_view path) {
  const auto leaf_at = path.find_last_of("/!") == std::string_view::npos ? 0 : path.find_last_of("/!") + 1;
  const auto stem_end = leaf_at + stem_of(path.substr(leaf_at)).size();
  std::vector<Slot> out;
  for (std::size_t i = leaf_at; i < stem_end;) {
    if (!is_digit(path[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < stem_end && is_digit(path[end])) ++end;
    std::size_t word_end = i;
    if (word_end > leaf_at && (path[word_end - 1] == '_' || path[word_end - 1] == '-' || path[word_end - 1] == '.'))
      --word_end;
    std::size_t word = word_end;
    while (word > leaf_at && is_letter(path[word - 1])) --word;
    const bool bare = word == word_end;  // no letters before it: the whole stem, or slurm-<job>_<task>
    const bool usable = !bare || (i == leaf_at && end == stem_end) || path.substr(leaf_at).starts_with("slurm");
    if (usable && end - i <= kMaxDigits) {
      out.push_back({std::string(path.substr(0, i)) + "#" + std::string(path.substr(end)),
                     std::string(path.substr(word, word_end - word)), number(path.substr(i, end - i))});
    }
    i = end;
  }
  return out;
}

bool covers_from_zero(std::vector<std::int32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != static_cast<std::int32_t>(i)) return false;
  }
  return numbers.size() >= 2;
}

// Names that differ in one number and cover 0..n-1.
void ranks_from_sets(const std::vector<std::string>& paths, std::vector<NameHint>& hints) {
  std::unordered_map<std::string, std::vector<std::pair<std::size_t, std::int32_t>>> groups;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (hints[i].rank >= 0 || hints[i].local_rank >= 0) continue;
    for (const auto& slot : slots_of(paths[i])) {
      if (contains(kProcessWords, slot.word)) groups[slot.pattern].emplace_back(i, slot.number);
    }
  }
  for (const auto& [pattern, members] : groups) {
    std::vector<std::int32_t> numbers;
    for (const auto& member : members) numbers.push_back(member.second);
    if (!covers_from_zero(numbers)) continue;
    for (const auto& [i, rank] : members) {
      if (hints[i].rank < 0) hints[i].rank = rank;
    }
  }
}

std::int32_t trailing_number(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  std::size_t start = text.size();
  while (start > 0 && is_digit(text[start - 1])) --start;
  return number(text.substr(start));
}

// The ranks of several nodes: `local` ones become ranks of the job when every node has 0..k-1 and the
// nodes are numbered 0..m-1, else they stay unknown.
class LocalRanks {
 public:
  void add(const std::string& node, std::int32_t rank) { nodes_[node].insert(rank); }

  bool repeats() const {
    std::set<std::int32_t> seen;
    for (const auto& [node, ranks] : nodes_) {
      for (const auto rank : ranks) {
        if (!seen.insert(rank).second) return true;
      }
    }
    return false;
  }
  std::int32_t global(const std::string& node, std::int32_t local) const {
    if (nodes_.size() == 1) return local;
    std::vector<std::int32_t> indexes;
    const auto per_node = static_cast<std::int32_t>(nodes_.begin()->second.size());
    for (const auto& [name, ranks] : nodes_) {
      indexes.push_back(trailing_number(name));
      if (static_cast<std::int32_t>(ranks.size()) != per_node || *ranks.rbegin() != per_node - 1) return -1;
    }
    return covers_from_zero(indexes) ? trailing_number(node) * per_node + local : -1;
  }

 private:
  std::map<std::string, std::set<std::int32_t>> nodes_;
};

void settle_local_ranks(std::vector<NameHint>& hints) {
  std::map<std::int32_t, LocalRanks> named, torchrun;  // by attempt
  for (const auto& hint : hints) {
    if (hint.local_rank >= 0) torchrun[hint.attempt].add(hint.place, hint.local_rank);
    else if (hint.rank >= 0 && !hint.node.empty()) named[hint.attempt].add(hint.node, hint.rank);
  }
  for (auto& hint : hints) {
    if (hint.local_rank >= 0) {
      if (hint.rank < 0) hint.rank = torchrun[hint.attempt].global(hint.place, hint.local_rank);
    } else if (hint.rank >= 0 && !hint.node.empty() && named[hint.attempt].repeats()) {
      hint.local_rank = hint.rank;
      hint.rank = named[hint.attempt].global(hint.node, hint.rank);
    }
  }
}

}  // namespace

NameHint hint_of(std::string_view path) {
  NameHint hint;
  const std::string lower = base::lower(path);
  const auto parts = parts_of(lower);
  if (parts.empty()) return hint;
  read_torchrun(parts, hint);
  const bool host_first = rank_after_host(parts.back(), hint);
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (hint.rank < 0) hint.rank = rank_in(parts[i]);
    hint.impossible_rank = hint.impossible_rank || names_impossible_rank(parts[i]);
    if (hint.attempt < 0) hint.attempt = attempt_in(parts[i]);
  }
  if (!host_first || hint.node.empty()) hint.node = node_in(parts);
  return hint;
}

std::vector<NameHint> hints_of(const std::vector<std::string>& paths) {
  std::vector<NameHint> hints;
  std::vector<std::string> lower;
  for (const auto& path : paths) {
    hints.push_back(hint_of(path));
    lower.push_back(base::lower(path));
  }
  ranks_from_sets(lower, hints);
  settle_local_ranks(hints);
  return hints;
}

std::vector<std::string_view> host_words(std::string_view path) {
  std::vector<std::string_view> out;
  for (const auto part : parts_of(path)) {
    const auto stem = stem_of(part);
    out.push_back(stem);
    std::size_t start = 0;
    while (start <= stem.size()) {
      const auto end = std::min(stem.find_first_of("_.", start), stem.size());
      if (end > start && end - start < stem.size()) out.push_back(stem.substr(start, end - start));
      start = end + 1;
    }
  }
  return out;
}

}  // namespace holter::evidence
