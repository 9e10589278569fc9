// SPDX-License-Identifier: Apache-2.0
// nvidia-smi -q -x (nvsmi_device_v10 to v13), one element a line as the tool prints it. The facts have
// the names that the text form gives (gpu_query.cpp), so that diagnosers know one vocabulary:
// <remapped_row_pending> is smi.remapped_rows.pending, <current_link_gen> ...pcie_generation.current.
#include <array>
#include <utility>

#include <re2/re2.h>

#include "base/strings.h"
#include "formats/facts/names.h"
#include "formats/facts/quantity.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

std::string_view sv(re2::StringPiece p) { return {p.data(), p.size()}; }

// Element names whose text form differs.
std::string text_name(std::string_view element) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kNames{{
      {"current_link_gen", "current"},
      {"current_link_width", "current"},
      {"gpu_power_readings", "power_readings"},
      {"link_widths", "link_width"},
      {"max_link_gen", "max"},
      {"max_link_width", "max"},
      {"pci_gpu_link_info", "gpu_link_info"},
      {"pcie_gen", "pcie_generation"},
      {"remapped_row_failure", "remapping_failure_occurred"},
      {"remapped_row_pending", "pending"},
      {"sm_clock", "sm"},
  }};
  for (const auto& [xml, text] : kNames) {
    if (element == xml) return std::string(text);
  }
  for (const std::string_view prefix : {"clocks_event_reason_", "clocks_throttle_reason_"}) {
    if (element.starts_with(prefix)) element.remove_prefix(prefix.size());
  }
  return key_of(element);
}

class GpuXml final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto body = base::trim(line);
    if (body.size() < 3 || body.front() != '<' || body.back() != '>') return false;
    if (body == "<nvidia_smi_log>") {
      open_ = true;
      close_gpu();
      return true;
    }
    if (body == "</nvidia_smi_log>") {
      close_gpu();
      return std::exchange(open_, false);
    }
    return open_ && element(body, facts);
  }

 private:
  static constexpr std::size_t kMaxDepth = 8;

  bool element(std::string_view body, FactWriter& facts) {
    static const re2::RE2 shape(
        R"re(^<(/?)([A-Za-z_][\w.-]*)(?: id="([^"]*)")?[^<>]*?(/?)>(?:([^<]*)</([\w.-]+)>)?$)re");
    re2::StringPiece slash, name, id, alone, value, end;
    if (!re2::RE2::FullMatch(re2::StringPiece(body.data(), body.size()), shape, &slash, &name, &id, &alone, &value,
                             &end))
      return true;  // a value with odd characters: nothing that is read here
    if (!slash.empty()) leave(sv(name));
    else if (!end.empty()) leaf(sv(name), base::trim(sv(value)), facts);
    else if (alone.empty()) enter(sv(name), sv(id));
    return true;
  }

  void enter(std::string_view name, std::string_view id) {
    if (name == "gpu") {
      close_gpu();
      if (const auto pci = pci_address(id)) gpu_ = *pci;
      return;
    }
    if (depth_++ < kMaxDepth) path_.push_back(text_name(name));
  }

  void leave(std::string_view name) {
    if (name == "gpu") return close_gpu();
    if (depth_ == 0) return;
    if (depth_-- <= kMaxDepth) path_.pop_back();
  }

  void leaf(std::string_view name, std::string_view value, FactWriter& facts) const {
    if (gpu_.empty()) {
      if (name == "driver_version") facts.add("version.driver", value);
      if (name == "cuda_version") facts.add("version.cuda", value);
      if (name == "attached_gpus") facts.add("gpu.attached", value);
      return;
    }
    std::string key = "smi";
    for (const auto& section : path_) key += "." + section;
    facts.add(key + "." + text_name(name), value, gpu_);
  }

  void close_gpu() {
    gpu_.clear();
    path_.clear();
    depth_ = 0;
  }

  bool open_ = false;
  std::string gpu_;
  std::vector<std::string> path_;
  std::size_t depth_ = 0;  // also of elements too deep to be named
};

}  // namespace

std::unique_ptr<Recogniser> make_gpu_xml() { return std::make_unique<GpuXml>(); }

}  // namespace holter::formats::facts
