// SPDX-License-Identifier: Apache-2.0
// nvidia-smi -L ("GPU 0: NVIDIA L40 (UUID: GPU-11)"), nvlink -s (links below such a line), topo -m.
// Facts gpu.name, gpu.uuid, gpu.pci with the index as subject; nvlink.link ("53.125 GB/s", "inactive")
// and nvlink.all_inactive with the GPU index; topo.path with "GPU0-GPU1".
#include <re2/re2.h>

#include "base/strings.h"
#include "formats/facts/names.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

std::string_view sv(re2::StringPiece p) { return {p.data(), p.size()}; }

class GpuList final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto body = base::trim(line);
    return listed(body, facts) || nvlink(body, facts) || topo_header(line) || topo_row(line, facts);
  }

 private:
  bool listed(std::string_view body, FactWriter& facts) {
    static const re2::RE2 head(R"(^GPU (\d+): (.+?)(?: \(UUID: ([^)]+)\))?$)");
    re2::StringPiece index, name, uuid;
    if (!re2::RE2::FullMatch(re2::StringPiece(body.data(), body.size()), head, &index, &name, &uuid)) return false;
    const auto pci = pci_address(sv(name).substr(0, sv(name).find(' ', 4)));
    const bool product = sv(name).starts_with("NVIDIA") || sv(name).starts_with("Tesla") ||
                         sv(name).starts_with("GeForce") || sv(name).starts_with("Quadro") ||
                         sv(name).starts_with("AMD") || !uuid.empty();
    if (!pci && !product) return false;
    gpu_ = std::string(sv(index));
    if (pci) facts.add("gpu.pci", *pci, gpu_).has_number = false;
    else facts.add("gpu.name", sv(name), gpu_).has_number = false;
    if (!uuid.empty()) facts.add("gpu.uuid", sv(uuid), gpu_);
    return true;
  }

  bool nvlink(std::string_view body, FactWriter& facts) const {
    if (gpu_.empty()) return false;
    if (body.find("all links are inActive") != std::string_view::npos) {
      facts.add("nvlink.all_inactive", body, gpu_);
      return true;
    }
    static const re2::RE2 link(R"(^Link (\d+): <?([^>]+)>?$)");
    re2::StringPiece number, state;
    if (!re2::RE2::FullMatch(re2::StringPiece(body.data(), body.size()), link, &number, &state)) return false;
    facts.add("nvlink.link", sv(state), gpu_).context = facts.evidence().intern("link " + std::string(sv(number)));
    return true;
  }

  bool topo_header(std::string_view line) {
    const auto f = base::split_blanks(line);
    if (f.size() < 2 || (f[0] != "GPU0" && f[0] != "\x1b[4mGPU0") || line[0] == 'G') return false;
    columns_.clear();
    for (const auto word : f) {
      if (word == "CPU") break;
      columns_.emplace_back(word);
    }
    return true;
  }

  bool topo_row(std::string_view line, FactWriter& facts) const {
    if (columns_.empty()) return false;
    const auto f = base::split_blanks(line);
    if (f.size() < columns_.size() + 1) return false;
    const auto row = std::find(columns_.begin(), columns_.end(), f[0]);
    if (row == columns_.end()) return false;
    // Each pair once: cells right of the diagonal.
    for (auto c = static_cast<std::size_t>(row - columns_.begin()) + 1; c < columns_.size(); ++c) {
      facts.add("topo.path", f[c + 1], std::string(f[0]) + "-" + columns_[c]);
    }
    return true;
  }

  std::string gpu_;
  std::vector<std::string> columns_;
};

}  // namespace

std::unique_ptr<Recogniser> make_gpu_list() { return std::make_unique<GpuList>(); }

}  // namespace holter::formats::facts
