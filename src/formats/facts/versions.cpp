// SPDX-License-Identifier: Apache-2.0
// Versions: pip freeze, dpkg -l, rpm -q, /proc/driver/nvidia/version, the nvidia-smi banner. Facts
// version.<name>.
#include <array>

#include <re2/re2.h>

#include "base/strings.h"
#include "formats/facts/quantity.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

std::string_view sv(re2::StringPiece p) { return {p.data(), p.size()}; }

struct Pattern {
  re2::RE2 regex;
  const char* key;  // nullptr: the first group is the name
};

const std::array<Pattern, 8>& patterns() {
  static const std::array<Pattern, 8> all{{
      {re2::RE2(R"(^([A-Za-z0-9][\w.-]*(?:\[[\w,-]+\])?)==(\d[\w.+!-]*)$)"), nullptr},
      {re2::RE2(R"(^[ihru]i\s+([\w.+-]+)(?::\w+)?\s+(\d\S*)\s.*$)"), nullptr},
      {re2::RE2(R"(^NVRM version: NVIDIA UNIX.*Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)\s.*$)"), "version.kernel_module"},
      {re2::RE2(R"(^.*NVRM: loading NVIDIA UNIX.*Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)\b.*$)"),
       "version.kernel_module"},
      {re2::RE2(R"(^.*NVRM: API mismatch: the client has the version (\d[\d.]*\d).*$)"), "version.client_library"},
      {re2::RE2(R"(^.*NVML library version: (\d[\d.]*\d).*$)"), "version.nvml_library"},
      {re2::RE2(R"(^\|? ?NVIDIA-SMI (\d[\d.]*).*$)"), "version.nvidia_smi"},
      {re2::RE2(
           R"(^(nvidia-fabricmanager|nvidia-fabric-manager|cuda-drivers|libnvidia-nscq|nvlsm)[-\w]*[- :]+(?:version )?(\d+\.\d+[\d.]*).*$)"),
       nullptr},
  }};
  return all;
}

class Versions final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto body = base::trim(line);
    for (const auto& p : patterns()) {
      re2::StringPiece a, b;
      const re2::StringPiece text(body.data(), body.size());
      if (p.key ? !re2::RE2::FullMatch(text, p.regex, &a) : !re2::RE2::FullMatch(text, p.regex, &a, &b)) continue;
      const auto value = p.key ? sv(a) : sv(b);
      facts.add(p.key ? std::string(p.key) : "version." + key_of(sv(a)), value).has_number = false;
      banner(body, facts);
      return true;
    }
    return false;
  }

 private:
  static void banner(std::string_view body, FactWriter& facts) {
    static const re2::RE2 driver(R"(Driver Version: (\d[\d.]*).*CUDA Version: (\S+))");
    re2::StringPiece d, c;
    if (!re2::RE2::PartialMatch(re2::StringPiece(body.data(), body.size()), driver, &d, &c)) return;
    facts.add("version.driver", sv(d)).has_number = false;
    facts.add("version.cuda", sv(c)).has_number = false;
  }
};

}  // namespace

std::unique_ptr<Recogniser> make_versions() { return std::make_unique<Versions>(); }

}  // namespace holter::formats::facts
