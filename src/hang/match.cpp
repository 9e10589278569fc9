// SPDX-License-Identifier: Apache-2.0
#include "hang/match.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace holter::hang {

namespace {

std::uint64_t mix(std::uint64_t h, std::uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15ULL + (h >> 29); }

// What must agree between the members of a group for one call.
struct Signature {
  std::uint64_t op = 0;
  std::uint64_t sizes = 0;
  std::uint64_t types = 0;
  bool operator==(const Signature&) const = default;
  auto operator<=>(const Signature&) const = default;
};

class Matcher {
 public:
  Matcher(const model::Evidence& ev, const CallState& calls, const SemanticsTable& semantics)
      : ev_(ev), calls_(calls), semantics_(semantics) {}

  std::vector<Divergence> run() {
    find_suspects();
    std::vector<Divergence> out;
    for (const auto& [group, seqs] : suspects_) {
      if (auto d = first_divergence(group)) out.push_back(*d);
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
      return a.minority_call.created_ns < b.minority_call.created_ns;
    });
    return out;
  }

 private:
  struct OpInfo {
    std::uint64_t key = 0;
    bool in = false, out = false, compare = true;
  };
  const OpInfo& op_info(model::StrId op) {
    auto [it, is_new] = ops_.try_emplace(op);
    if (is_new) {
      const auto s = semantics_.of(ev_.text(op));
      it->second = {std::hash<std::string>()(s.family == "barrier" ? "barrier" : op_key(ev_.text(op))), s.in_must_match,
                    s.out_must_match, s.family != "p2p" && s.family != "coalesced"};
    }
    return it->second;
  }

  Signature signature(const Call& c) {
    const auto& info = op_info(c.op);
    Signature s{info.key, 0, 0};
    // An all_reduce of one element is how a barrier is recorded: its sizes say nothing.
    if (info.in) s.sizes = mix(1, c.numel_in);
    if (info.out) s.sizes = mix(s.sizes, c.numel_out);
    if ((info.in || info.out) && c.shape != model::ShapeId::kNone) {
      s.types = static_cast<std::uint32_t>(ev_.shapes[static_cast<std::uint32_t>(c.shape)].input_dtypes);
    }
    return s;
  }

  Call call_of_entry(std::size_t i) const {
    const auto& e = ev_.entries[i];
    const auto& shape = ev_.shapes[static_cast<std::uint32_t>(e.shape)];
    Call c;
    c.group = calls_.entry_group[i];
    c.rank = calls_.entry_rank[i];
    c.seq = e.collective_seq;
    c.order = e.record_id;
    c.op = e.op;
    c.numel_in = shape.numel_in;
    c.numel_out = shape.numel_out;
    c.shape = e.shape;
    c.frames = e.frames;
    c.created_ns = e.created_ns;
    c.timeout_ms = e.timeout_ms;
    return c;
  }

  template <typename Visit>
  void each_call(const Visit& visit) {
    for (const auto& d : ev_.dumps) {
      for (std::size_t i = d.first_entry; i < d.first_entry + d.entry_count; ++i) {
        const auto& e = ev_.entries[i];
        if (calls_.entry_group[i] == CallState::kNoGroup || e.is_p2p || e.collective_seq < 0) continue;
        if (!op_info(e.op).compare) continue;
        Call c = call_of_entry(i);
        c.at = {d.file, model::PosKind::kRecord, i - d.first_entry};
        if (c.created_ns > 0) c.created_ns = model::without_offset(c.created_ns, ev_.clocks[d.clock].offset_ns);
        visit(c);
      }
    }
    for (const auto& [rank, r] : calls_.ranks) {
      for (const auto& c : r.pending) {
        const bool of_entry = c.at.kind == model::PosKind::kRecord;
        if (!of_entry && !c.p2p && c.op != model::StrId::kEmpty && op_info(c.op).compare) visit(c);
      }
    }
  }

  // One pass with little memory: groups in which some call is not the same everywhere.
  void find_suspects() {
    std::unordered_map<std::uint64_t, Signature> first;
    each_call([&](const Call& c) {
      const auto key = mix(c.group + 1, static_cast<std::uint64_t>(c.seq));
      const auto s = signature(c);
      const auto [it, is_new] = first.try_emplace(key, s);
      if (!is_new && it->second != s) suspects_[c.group];
    });
    if (suspects_.empty()) return;
    each_call([&](const Call& c) {
      if (const auto found = suspects_.find(c.group); found != suspects_.end()) found->second[c.seq].push_back(c);
    });
  }

  std::optional<Divergence> first_divergence(std::uint32_t group) {
    std::optional<Divergence> found;
    for (auto& [seq, calls] : suspects_[group]) {
      auto d = divergence(group, seq, calls);
      if (!d) continue;
      if (!found) {
        found = d;
        found->shift = shift_of(*found);
      } else {
        found->later++;
      }
    }
    return found;
  }

  std::optional<Divergence> divergence(std::uint32_t group, std::int64_t seq, const std::vector<Call>& calls) {
    std::map<Signature, std::vector<const Call*>> sides;
    for (const auto& c : calls) sides[signature(c)].push_back(&c);
    if (sides.size() < 2) return std::nullopt;
    const auto* major = &*sides.begin();
    std::size_t best = 0, same = 0;
    for (const auto& side : sides) {
      if (side.second.size() > best) best = side.second.size(), major = &side, same = 1;
      else if (side.second.size() == best) same++;
    }
    Divergence d;
    d.group = group;
    d.seq = seq;
    d.tie = same > 1;
    d.majority_call = *major->second.front();
    for (const auto& side : sides) {
      auto& ranks = &side == major ? d.majority : d.minority;
      std::vector<std::int32_t> list;
      for (const auto* c : side.second) list.push_back(c->rank);
      ranks = ranks | model::RankSet::of(std::move(list));
      if (&side != major && d.minority_call.rank < 0) {
        d.minority_call = *side.second.front();
        d.kind = side.first.op != major->first.op         ? DivergenceKind::kOtherCall
                 : side.first.sizes != major->first.sizes ? DivergenceKind::kOtherSize
                                                          : DivergenceKind::kOtherType;
      }
    }
    return d;
  }

  // Compares what follows on one rank of each side, shifted by one to three calls.
  Shift shift_of(const Divergence& d) {
    const auto minority = sequence(d.group, d.minority_call.rank, d.seq);
    const auto majority = sequence(d.group, d.majority_call.rank, d.seq);
    if (minority.size() >= 2 && majority.size() >= 2 && minority[0] == majority[1] && minority[1] == majority[0]) {
      return Shift::kSwapped;
    }
    for (std::size_t by = 1; by <= 3; ++by) {
      if (follows(minority, 0, majority, by)) return Shift::kSkipped;
      if (follows(minority, by, majority, 0)) return Shift::kExtra;
    }
    return Shift::kNone;
  }
  static bool follows(const std::vector<Signature>& a, std::size_t from_a, const std::vector<Signature>& b,
                      std::size_t from_b) {
    std::size_t same = 0;
    while (from_a + same < a.size() && from_b + same < b.size() && a[from_a + same] == b[from_b + same]) ++same;
    const bool ran_out = from_a + same >= a.size() || from_b + same >= b.size();
    return same >= 1 && ran_out;
  }
  std::vector<Signature> sequence(std::uint32_t group, std::int32_t rank, std::int64_t from) {
    std::vector<Signature> out;
    auto& seqs = suspects_[group];
    for (auto it = seqs.lower_bound(from); it != seqs.end() && out.size() < 64; ++it) {
      for (const auto& c : it->second) {
        if (c.rank == rank) {
          out.push_back(signature(c));
          break;
        }
      }
    }
    return out;
  }

  const model::Evidence& ev_;
  const CallState& calls_;
  const SemanticsTable& semantics_;
  std::unordered_map<model::StrId, OpInfo> ops_;
  std::map<std::uint32_t, std::map<std::int64_t, std::vector<Call>>> suspects_;
};

}  // namespace

std::vector<Divergence> find_divergences(const model::Evidence& evidence, const CallState& calls,
                                         const SemanticsTable& semantics) {
  return Matcher(evidence, calls, semantics).run();
}

}  // namespace holter::hang
