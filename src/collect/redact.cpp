// SPDX-License-Identifier: Apache-2.0
#include "collect/redact.h"

#include <algorithm>
#include <array>

#include <re2/re2.h>

#include "base/strings.h"
#include "report/share/patterns.h"

namespace holter::collect {

namespace {

constexpr std::string_view kSecret = "<secret>";
constexpr std::size_t kMaxLine = 65536;  // a longer line is searched in pieces

constexpr std::array<std::string_view, 26> kPrefixes{
    "NCCL_", "TORCH",     "CUDA_",      "NVIDIA_", "PYTORCH_", "HIP_",  "ROCR_", "RCCL_",  "HSA_",
    "UCX_",  "NVSHMEM_",  "GLOO_",      "SLURM_",  "OMPI_",    "PMIX_", "RAY_",  "VLLM_",  "SGLANG_",
    "NVTE_", "MEGATRON_", "DEEPSPEED_", "HCCL_",   "ASCEND_",  "FI_",   "OMP_",  "HOLTER_"};
constexpr std::array<std::string_view, 12> kNames{
    "RANK",       "WORLD_SIZE",        "LOCAL_RANK",  "LOCAL_WORLD_SIZE",           "NODE_RANK",
    "GROUP_RANK", "MASTER_ADDR",       "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_RUN_ID",
    "LD_PRELOAD", "PYTHONFAULTHANDLER"};

bool is_allowed(std::string_view name) {
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](auto p) { return name.starts_with(p); }) ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

re2::StringPiece piece(std::string_view s) { return {s.data(), s.size()}; }

// Replaces group 1 of every match.
std::string replaced(const std::string& line, const re2::RE2& pattern) {
  std::string out;
  std::size_t from = 0;
  re2::StringPiece groups[2];
  while (from <= line.size() && pattern.Match(line, from, line.size(), re2::RE2::UNANCHORED, groups, 2)) {
    const auto at = static_cast<std::size_t>(groups[1].data() - line.data());
    out.append(line, from, at - from);
    out += kSecret;
    from = at + groups[1].size();
    if (groups[1].empty()) break;
  }
  return out.append(line, std::min(from, line.size()), std::string::npos);
}

std::string scrubbed(std::string_view text) {
  // Nothing that the patterns below look for is without one of these.
  static const re2::RE2 hint(
      R"((?i)token|secret|passw|passphrase|pwd|key|authorization|credential|serial|hf_|gh[pousr]_|github_pat|glpat-|sk-|xox|AKIA|ASIA|eyJ|://)");
  if (!re2::RE2::PartialMatch(piece(text), hint)) return std::string(text);
  static const re2::RE2 login(R"([a-zA-Z][a-zA-Z0-9+.-]*://([^\s/@:]+:[^\s/@]+)@)");
  std::string out = replaced(std::string(text), login);
  for (const auto* pattern : report::share::secret_patterns()) out = replaced(out, *pattern);
  return out;
}

}  // namespace

std::string without_secrets(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool private_key = false;  // between BEGIN and END
  while (!text.empty()) {
    auto end = text.find('\n');
    end = end == std::string_view::npos ? text.size() : end + 1;
    const auto line = text.substr(0, std::min(end, kMaxLine));
    text.remove_prefix(line.size());
    const bool begins = line.find("PRIVATE KEY-----") != std::string_view::npos;
    if (begins && line.find("-----BEGIN") != std::string_view::npos) {
      private_key = true;
      out.append(kSecret).append("\n");
    } else if (begins) {
      private_key = false;
    } else if (!private_key) {
      out += scrubbed(line);
    }
  }
  return out;
}

std::string allowed_environment(const std::vector<std::pair<std::string, std::string>>& environment) {
  std::string out;
  for (const auto& [name, value] : environment) {
    if (is_allowed(name)) out += name + "=" + base::printable(value) + "\n";
  }
  return without_secrets(out);
}

}  // namespace holter::collect
