// SPDX-License-Identifier: Apache-2.0
// Environment dumps ("NCCL_DEBUG=INFO", "export X=1", "X: 1" of a pod) and Prometheus text exposition
// ("vllm:num_requests_waiting{model="m"} 12"). Facts env.<NAME>; metric.<name> with the labels as subject.
#include <algorithm>

#include <re2/re2.h>

#include "base/strings.h"
#include "formats/facts/quantity.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

bool is_env_name(std::string_view name) {
  if (name.size() < 2 || name.size() > 128 || name[0] < 'A' || name[0] > 'Z') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

std::string_view unquoted(std::string_view value) {
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front()) {
    return value.substr(1, value.size() - 2);
  }
  return value;
}

class Environment final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    auto body = base::trim(line);
    if (body.starts_with("export ")) body = base::trim(body.substr(7));
    else if (body.starts_with("declare -x ")) body = body.substr(11);
    const auto eq = body.find('=');
    if (eq == std::string_view::npos || !is_env_name(body.substr(0, eq))) return false;
    // "NCCL_P2P_DISABLE=1 all_reduce_perf -g 2: ok" is an experiment, not a dump.
    const auto value = base::trim(body.substr(eq + 1));
    if (value.find(": ") != std::string_view::npos ||
        (value.find(' ') != std::string_view::npos && value.find('=') != std::string_view::npos))
      return false;
    facts.add("env." + std::string(body.substr(0, eq)), unquoted(value));
    return true;
  }
};

class Prometheus final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) {
      exposition_ = true;
      return true;
    }
    const auto brace = line.find('{');
    const auto blank = line.find(' ');
    const auto name = line.substr(0, std::min(brace, blank));
    if (name.size() < 3 || blank == std::string_view::npos) return false;
    const bool shaped = std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
    });
    if (!shaped || (brace > blank && !exposition_)) return false;
    std::string_view labels, rest = line.substr(name.size());
    if (rest.starts_with('{')) {
      const auto close = rest.rfind("} ");
      if (close == std::string_view::npos) return false;
      labels = rest.substr(1, close - 1);
      rest = rest.substr(close + 2);
    }
    rest = base::trim(rest);
    rest = rest.substr(0, rest.find(' '));  // a time may follow
    if (!base::to_double(rest)) return false;
    label_node(labels, facts);
    facts.add("metric." + std::string(name), rest, labels);
    return true;
  }

 private:
  static void label_node(std::string_view labels, FactWriter& facts) {
    static const re2::RE2 host(R"((?:Hostname|hostname|node|host)="([^"]+)\")");
    std::string name;
    if (re2::RE2::PartialMatch(re2::StringPiece(labels.data(), labels.size()), host, &name)) facts.set_node(name);
  }
  bool exposition_ = false;
};

// torch.OutOfMemoryError: "CUDA out of memory. Tried to allocate 10.84 GiB. GPU 0 has a total capacity of
// 79.15 GiB of which 3.02 GiB is free. ... Of the allocated memory 41.30 GiB is allocated by PyTorch, and
// 33.71 GiB is reserved by PyTorch but unallocated." Older: "(GPU 0; 79.15 GiB total capacity; 41.30 GiB
// already allocated; 3.02 GiB free; 75.01 GiB reserved in total by PyTorch)".
class GpuMemory final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto at = line.find("out of memory. Tried to allocate ");
    if (at == std::string_view::npos) return false;
    const auto text = line.substr(at);
    static const re2::RE2 gpu(R"(GPU (\d+)[ ;])");
    std::string index;
    re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), gpu, &index);
    static const struct {
      const char* key;
      re2::RE2 regex;
    } kParts[] = {
        {"oom.tried_bytes", re2::RE2(R"(Tried to allocate ([0-9.]+ [KMGT]i?B))")},
        {"oom.total_bytes",
         re2::RE2(R"((?:total capacity of ([0-9.]+ [KMGT]i?B)|([0-9.]+ [KMGT]i?B) total capacity))")},
        {"oom.free_bytes", re2::RE2(R"((?:of which ([0-9.]+ [KMGT]i?B) is free|([0-9.]+ [KMGT]i?B) free))")},
        {"oom.allocated_bytes",
         re2::RE2(R"((?:memory ([0-9.]+ [KMGT]i?B) is allocated by PyTorch|([0-9.]+ [KMGT]i?B) already allocated))")},
        {"oom.unallocated_bytes", re2::RE2(R"(([0-9.]+ [KMGT]i?B) is reserved by PyTorch but unallocated)")},
        {"oom.reserved_bytes", re2::RE2(R"(([0-9.]+ [KMGT]i?B) reserved in total)")},
    };
    for (const auto& part : kParts) {
      std::string a, b;
      const re2::StringPiece input(text.data(), text.size());
      if (part.regex.NumberOfCapturingGroups() == 2 ? !re2::RE2::PartialMatch(input, part.regex, &a, &b)
                                                    : !re2::RE2::PartialMatch(input, part.regex, &a)) {
        continue;
      }
      const auto& value = a.empty() ? b : a;
      if (const auto n = bytes(value)) facts.add(part.key, *n, value, index);
    }
    return true;
  }
};

}  // namespace

std::unique_ptr<Recogniser> make_environment() { return std::make_unique<Environment>(); }
std::unique_ptr<Recogniser> make_prometheus() { return std::make_unique<Prometheus>(); }
std::unique_ptr<Recogniser> make_gpu_memory() { return std::make_unique<GpuMemory>(); }

}  // namespace holter::formats::facts
