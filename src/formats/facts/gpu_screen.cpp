// SPDX-License-Identifier: Apache-2.0
// What `nvidia-smi` prints without options: two rows a GPU, and the line that it prints instead when a
// GPU does not answer. Facts gpu.pci (index as subject); with the PCI address as subject: gpu.lost with
// the tool's words, smi.unreadable (how many of fan, temperature, state, power and load read "ERR!")
// and smi.ecc_errors.volatile.uncorrectable.
#include <re2/re2.h>

#include "base/strings.h"
#include "formats/facts/names.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

std::string_view sv(re2::StringPiece p) { return {p.data(), p.size()}; }
re2::StringPiece piece(std::string_view s) { return {s.data(), s.size()}; }

int count_of(std::string_view text, std::string_view word) {
  int n = 0;
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) ++n;
  return n;
}

class GpuScreen final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto body = base::trim(line);
    return no_answer(body, facts) || first_row(body, facts) || second_row(body, facts);
  }

 private:
  // "Unable to determine the device handle for GPU0000:C0:00.0: GPU is lost. Reboot the system ..."
  static bool no_answer(std::string_view body, FactWriter& facts) {
    static const re2::RE2 shape(
        R"(Unable to determine the device handle for [Gg][Pp][Uu] ?(?:\d{1,2}: ?)?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d): ?(.+))");
    re2::StringPiece address, words;
    if (!re2::RE2::PartialMatch(piece(body), shape, &address, &words)) return false;
    const auto pci = pci_address(sv(address));
    if (!pci) return false;
    facts.add("gpu.lost", sv(words), *pci).has_number = false;
    return true;
  }

  // "|   5  NVIDIA H100 80GB HBM3          On  |   00000000:C0:00.0 Off |                 ERR! |"
  bool first_row(std::string_view body, FactWriter& facts) {
    static const re2::RE2 shape(
        R"(^\|\s*(\d{1,3})\s+\S.*\|\s*([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\s+\S+\s*\|\s*(\S+)\s*\|$)");
    re2::StringPiece index, address, ecc;
    if (!re2::RE2::FullMatch(piece(body), shape, &index, &address, &ecc)) return false;
    const auto pci = pci_address(sv(address));
    if (!pci) return false;
    gpu_ = *pci;
    facts.add("gpu.pci", *pci, sv(index)).has_number = false;
    if (base::to_double(sv(ecc))) facts.add("smi.ecc_errors.volatile.uncorrectable", sv(ecc), gpu_);
    return true;
  }

  // "| N/A   43C    P0            627W /  700W |   70190MiB /  81559MiB |     99%      Default |"
  bool second_row(std::string_view body, FactWriter& facts) {
    if (gpu_.empty() || !body.starts_with('|') || !body.ends_with('|')) return false;
    const auto gpu = std::exchange(gpu_, std::string());
    if (body.find("MiB /") == std::string_view::npos && body.find("ERR!") == std::string_view::npos) return false;
    const auto errors = count_of(body, "ERR!");
    if (errors > 0) facts.add("smi.unreadable", errors, "ERR!", gpu);
    return true;
  }

  std::string gpu_;  // whose second row comes next
};

}  // namespace

std::unique_ptr<Recogniser> make_gpu_screen() { return std::make_unique<GpuScreen>(); }

}  // namespace holter::formats::facts
