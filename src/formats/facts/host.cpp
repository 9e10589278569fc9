// SPDX-License-Identifier: Apache-2.0
// /proc/meminfo, uname, /proc/cmdline, /sys/class/iommu, hosts tables. Facts mem.*_kb, host.kernel,
// kernel.cmdline, kernel.param.*, iommu.units, host.ip.
#include <algorithm>

#include "base/strings.h"
#include "formats/facts/names.h"
#include "formats/facts/quantity.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

using Fields = std::vector<std::string_view>;

bool is_kernel_release(std::string_view word) {
  // "5.15.0-122-generic", "6.8.12"
  const auto dots = std::count(word.begin(), word.end(), '.');
  return dots >= 2 && word.size() >= 5 && word[0] >= '1' && word[0] <= '9' &&
         base::to_int<int>(word.substr(0, word.find('.')));
}

bool meminfo(const Fields& f, FactWriter& facts) {
  if (f.size() < 2 || f.size() > 3 || !f[0].ends_with(':') || f[0][0] < 'A' || f[0][0] > 'Z') return false;
  if (f.size() == 3 && f[2] != "kB") return false;
  const auto name = f[0].substr(0, f[0].size() - 1);
  const bool known = name.starts_with("Mem") || name.starts_with("Swap") || name.starts_with("HugePages") ||
                     name == "Shmem" || name == "Cached" || name == "Buffers" || name == "SUnreclaim" ||
                     name == "Slab" || name == "Mlocked" || name == "Unevictable" || name == "AnonPages" ||
                     name == "VmRSS" || name == "VmLck" || name == "VmPin" || name == "VmSize" || name == "VmHWM";
  if (!known || !base::to_int<std::int64_t>(f[1])) return false;
  facts.add("mem." + key_of(name) + "_kb", f[1]);
  return true;
}

bool uname(const Fields& f, FactWriter& facts) {
  for (std::size_t i = 0; i + 1 < f.size() && i < 2; ++i) {
    if (f[i] != "Linux") continue;
    // "sx04 Linux 5.15.0" and "Linux sx04 5.15.0 #1 SMP"
    if (i == 1 && is_host_word(f[0]) && is_kernel_release(f[2 < f.size() ? 2 : 0])) {
      facts.set_node(f[0]);
      facts.add("host.kernel", f[2]);
      return true;
    }
    if (i == 0 && is_kernel_release(f[1])) {
      facts.add("host.kernel", f[1]);
      return true;
    }
    if (i == 0 && f.size() > 2 && is_kernel_release(f[2])) {
      if (is_host_word(f[1])) facts.set_node(f[1]);
      facts.add("host.kernel", f[2]);
      return true;
    }
  }
  return false;
}

bool command_line(std::string_view line, const Fields& f, FactWriter& facts) {
  if (line.find("BOOT_IMAGE=") == std::string_view::npos &&
      !(line.find("root=") != std::string_view::npos && line.find(" ro") != std::string_view::npos)) {
    return false;
  }
  facts.add("kernel.cmdline", line);
  for (const auto field : f) {
    const auto eq = field.find('=');
    const auto name = field.substr(0, eq);
    if (name == "root" || is_secret_name(name)) continue;
    facts.add("kernel.param." + key_of(name), eq == std::string_view::npos ? "1" : field.substr(eq + 1));
  }
  return true;
}

bool iommu_units(const Fields& f, FactWriter& facts) {
  if (f.empty()) return false;
  for (auto word : f) {
    if (const auto slash = word.rfind('/'); slash != std::string_view::npos) word = word.substr(slash + 1);
    const bool unit = word.starts_with("ivhd") || word.starts_with("dmar") || word.starts_with("smmu3") ||
                      word.starts_with("arm-smmu");
    if (!unit || word.size() > 24) return false;
  }
  facts.add("iommu.units", static_cast<double>(f.size()), f[0]);
  return true;
}

bool iommu_log(std::string_view line, FactWriter& facts) {
  const auto says = [&](std::string_view text) { return line.find(text) != std::string_view::npos; };
  if (says("DMAR: IOMMU enabled") || says("AMD-Vi: Interrupt remapping enabled") ||
      says("iommu: Default domain type")) {
    facts.add("iommu.log", line.substr(line.find(':') + 1));
    return says("iommu: Default domain type") || says("IOMMU enabled");
  }
  return false;
}

bool hosts_row(const Fields& f, FactWriter& facts) {
  if (f.size() < 2 || f.size() > 5 || !is_ipv4(f[0])) return false;
  if (!std::all_of(f.begin() + 1, f.end(), [](auto w) { return is_host_word(w); })) return false;
  facts.set_node(f[1]);
  facts.add("host.ip", f[0]).has_number = false;
  return true;
}

class HostFacts final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto body = base::trim(line);
    const auto f = base::split_blanks(body);
    return meminfo(f, facts) || uname(f, facts) || command_line(body, f, facts) || iommu_units(f, facts) ||
           iommu_log(body, facts) || hosts_row(f, facts);
  }
};

}  // namespace

std::unique_ptr<Recogniser> make_host() { return std::make_unique<HostFacts>(); }

}  // namespace holter::formats::facts
