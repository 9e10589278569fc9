// SPDX-License-Identifier: Apache-2.0
// Who runs where: "ranks 200-207 on tt25 (rank 203 = GPU 3 PCI 0000:5d:00)", "rank 3 -> gn2 gpu 1",
// and what a node should have: "lx19 expected_gpus=4". Facts rank.node, rank.gpu, inventory.*.
#include <algorithm>

#include <re2/re2.h>

#include "base/strings.h"
#include "formats/facts/names.h"
#include "formats/facts/quantity.h"
#include "formats/facts/recogniser.h"

namespace holter::formats::facts {

namespace {

constexpr int kMaxRanksOfOneLine = 4096;

std::string_view sv(re2::StringPiece p) { return {p.data(), p.size()}; }

void add_gpu(std::string_view line, FactWriter& facts) {
  static const re2::RE2 gpu(
      R"((?i)rank ?(\d+) ?(?:=|:|->|is|on) ?(?:GPU|device|cuda:?) ?(\d+)(?:[ ,(]+(?:PCI|bus(?:id)?)[ :]*([0-9a-fA-F:.]+))?)");
  re2::StringPiece input(line.data(), line.size());
  int rank = -1;
  re2::StringPiece index, pci;
  while (re2::RE2::FindAndConsume(&input, gpu, &rank, &index, &pci)) {
    facts.set_rank(model::GlobalRank{rank});
    facts.add("rank.gpu", sv(index), pci_address(sv(pci)).value_or(""));
  }
}

bool ranks_on(std::string_view line, FactWriter& facts) {
  static const re2::RE2 range(
      R"((?i)^(?:global )?ranks? ?(\d+)(?: ?(?:-|\.\.|to) ?(\d+))? ?(?:on|:|->|=|@|is on|runs on) ?(?:node |host )?([A-Za-z0-9][\w.-]*)(?:[ ,;(].*)?$)");
  int first = -1;
  re2::StringPiece last_text, host;
  if (!re2::RE2::FullMatch(re2::StringPiece(line.data(), line.size()), range, &first, &last_text, &host)) return false;
  if (!is_host_name(sv(host))) return false;
  const int last = last_text.empty() ? first : base::to_int<int>(sv(last_text)).value_or(first);
  if (last < first || last - first >= kMaxRanksOfOneLine) return false;
  facts.set_node(sv(host));
  for (int rank = first; rank <= last; ++rank) {
    facts.set_rank(model::GlobalRank{rank});
    facts.add("rank.node", sv(host)).has_number = false;
  }
  add_gpu(line, facts);
  return true;
}

bool inventory(std::string_view line, FactWriter& facts) {
  const auto f = base::split_blanks(line);
  if (f.size() < 2 || f.size() > 16 || !is_host_word(f[0])) return false;
  const bool pairs = std::all_of(f.begin() + 1, f.end(), [](std::string_view w) {
    const auto eq = w.find('=');
    return eq != std::string_view::npos && eq > 0;
  });
  if (!pairs) return false;
  facts.set_node(f[0]);
  for (std::size_t i = 1; i < f.size(); ++i) {
    const auto eq = f[i].find('=');
    const auto name = f[i].substr(0, eq);
    const bool env = std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    facts.add(env ? "env." + std::string(name) : "inventory." + key_of(name), f[i].substr(eq + 1));
  }
  return true;
}

class Placement final : public Recogniser {
 public:
  bool on_line(std::string_view line, FactWriter& facts) override {
    const auto body = base::trim(line);
    return ranks_on(body, facts) || inventory(body, facts);
  }
};

}  // namespace

std::unique_ptr<Recogniser> make_placement() { return std::make_unique<Placement>(); }

}  // namespace holter::formats::facts
