// SPDX-License-Identifier: Apache-2.0
#include "formats/nccl/state.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace holter::formats::nccl {

model::Event Input::event(std::string_view kind) const {
  auto e = text::event(kind, line, context, out);
  if (!head.host.empty()) e.node = host();
  if (head.pid >= 0) e.pid = head.pid;
  if (e.rank == model::GlobalRank::kNone && context.file) e.rank = context.file->name_rank;
  if (head.device >= 0) e.gpu = out.intern(std::to_string(head.device));
  if (!head.where.empty()) add_field(e, "where", head.where);
  return e;
}

void Input::add_field(model::Event& e, std::string_view key, std::string_view value) const {
  if (!value.empty()) e.fields.emplace_back(out.intern(key), out.intern(base::ellipsize(value, 200)));
}

model::NcclComm& State::comm(const Input& in, std::string_view pointer) {
  auto& comms = in.out.nccl.comms;
  const auto process = fmt::format("{}:{}", static_cast<std::uint32_t>(in.host()), in.head.pid);
  const auto [it, is_new] = comms_.emplace(fmt::format("{}:{}", process, pointer), comms.size());
  if (is_new) {
    model::NcclComm c;
    c.at = in.at();
    c.host = in.host();
    c.pid = in.head.pid;
    c.pointer = in.out.intern(pointer);
    c.global_rank = in.line.rank;
    if (c.global_rank == model::GlobalRank::kNone && in.context.file) c.global_rank = in.context.file->name_rank;
    comms.push_back(c);
  }
  current_[fmt::format("{}:{}", process, in.head.device)] = it->second;
  return comms[it->second];
}

model::NcclComm* State::current(const Input& in) {
  const auto key = fmt::format("{}:{}:{}", static_cast<std::uint32_t>(in.host()), in.head.pid, in.head.device);
  const auto it = current_.find(key);
  return it == current_.end() ? nullptr : &in.out.nccl.comms[it->second];
}

void State::fact(const Input& in, std::string_view key, std::string_view value) {
  value = base::trim(value);
  if (value.empty()) return;
  auto& facts = in.out.nccl.facts;
  if (!room(in, facts.size(), "facts")) return;
  model::NcclProcessFact f{in.at(), in.host(), in.head.pid, in.out.intern(key),
                           in.out.intern(base::ellipsize(value, 400))};
  const auto identity = fmt::format("{}:{}:{}:{}", static_cast<std::uint32_t>(f.host), f.pid,
                                    static_cast<std::uint32_t>(f.key), static_cast<std::uint32_t>(f.value));
  if (facts_.insert(identity).second) facts.push_back(f);
}

bool State::room(const Input& in, std::size_t size, std::string_view what) const {
  if (size < kMaxItems) return true;
  in.out.add_problem(in.at(), fmt::format("more than {} NCCL {}: the rest is not read", kMaxItems, what));
  return false;
}

}  // namespace holter::formats::nccl
