// SPDX-License-Identifier: Apache-2.0
// nvidia-smi -q: sections by indentation below "GPU 00000000:97:00.0". Every "Key : Value" becomes the
// fact smi.<section>.<key> with the PCI address as subject, e.g. smi.remapped_rows.pending,
// smi.ecc_errors.aggregate.dram_uncorrectable, smi.pci.gpu_link_info.pcie_generation.current.
#include "base/strings.h"
#include "formats/facts/names.h"
#include "formats/facts/quantity.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

class GpuQuery final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto indent = line.find_first_not_of(" \t");
    if (indent == std::string_view::npos) return false;
    const auto body = base::trim(line);
    if (indent == 0 && body.starts_with("GPU ")) {
      const auto pci = pci_address(body.substr(4));
      if (pci) {
        gpu_ = *pci;
        path_.clear();
        return true;
      }
    }
    if (head(body, facts)) return true;
    if (gpu_.empty()) return false;
    if (indent == 0) {
      gpu_.clear();  // the next command's output
      return false;
    }
    while (!path_.empty() && path_.back().indent >= indent) path_.pop_back();
    const auto colon = body.find(" : ");
    const bool empty_value = colon == std::string_view::npos && body.ends_with(" :");
    if (colon == std::string_view::npos && !empty_value) {
      if (path_.size() < kMaxDepth) path_.push_back({indent, key_of(body)});
      return true;
    }
    std::string key = "smi";
    for (const auto& section : path_) key += "." + section.name;
    key += "." + key_of(body.substr(0, colon));
    facts.add(key, empty_value ? std::string_view() : body.substr(colon + 3), gpu_);
    return true;
  }

 private:
  struct Section {
    std::size_t indent;
    std::string name;
  };
  static constexpr std::size_t kMaxDepth = 8;

  // "Driver Version : 570.133.20" stands before the first GPU.
  static bool head(std::string_view body, FactWriter& facts) {
    for (const std::string_view name : {"Driver Version", "CUDA Version", "Attached GPUs"}) {
      if (!body.starts_with(name)) continue;
      const auto colon = body.find(':');
      if (colon == std::string_view::npos || !base::trim(body.substr(name.size(), colon - name.size())).empty())
        continue;
      facts.add(
          name == "Attached GPUs" ? std::string("gpu.attached") : "version." + key_of(name.substr(0, name.find(' '))),
          body.substr(colon + 1));
      return true;
    }
    return false;
  }

  std::string gpu_;
  std::vector<Section> path_;
};

}  // namespace

std::unique_ptr<Recogniser> make_gpu_query() { return std::make_unique<GpuQuery>(); }

}  // namespace holter::formats::facts
