// SPDX-License-Identifier: Apache-2.0
// Forms:
//   Channel 00/0 : 0[7000] -> 8[7000] [send] via NET/IB/1(3)/GDRDMA/Shared     one edge
//   Channel 00 : 0[7] -> 1[8] via P2P/IPC/read                                 the same before 2.11
//   Channel 00/02 :    0   1   2   3                                           a ring, on rank 0
//   Ring 00 : 7 -> 0 -> 1                                                      one rank's place (GRAPH)
//   Trees [0] 1/4/-1->0->-1 [1] ...                                            one rank's places
//   Tree 0 : -1 -> 0 -> 1/4/-1                                                 one place (GRAPH)
// NCCL cuts rings at 128 characters and any line at 1,023.
#include "formats/nccl/topology_lines.h"

#include "base/cursor.h"
#include "base/strings.h"

namespace holter::formats::nccl {

namespace {

using base::Cursor;
using model::InitStage;

constexpr std::size_t kLineLimit = 1020;  // at least this long: the last item may be cut

void raise_connecting(const Input& in, State& state) {
  if (auto* comm = state.current(in); comm && comm->stage < InitStage::kConnect) comm->stage = InitStage::kConnect;
}
model::StrId comm_of(const Input& in, State& state) {
  const auto* comm = state.current(in);
  return comm ? comm->pointer : model::StrId::kEmpty;
}

model::Transport transport_of(std::string_view via) {
  using model::Transport;
  if (via.starts_with("P2P")) return Transport::kP2p;
  if (via.starts_with("SHM")) return Transport::kShm;
  if (via.starts_with("NVLS")) return Transport::kNvls;
  if (via.starts_with("COLLNET") || via.starts_with("CollNet")) return Transport::kCollNet;
  if (via.starts_with("NET/IB")) return Transport::kNetIb;
  if (via.starts_with("NET/Socket")) return Transport::kNetSocket;
  if (via.starts_with("NET/")) return Transport::kNetPlugin;
  return Transport::kUnknown;
}

// "0[7000]" -> 0
std::optional<std::int32_t> rank_with_device(Cursor& c) {
  c.blanks();
  const auto rank = c.number<std::int32_t>();
  if (!rank || !c.eat("[")) return std::nullopt;
  c.until("]");
  return c.eat("]") ? rank : std::nullopt;
}

void read_via(model::NcclEdge& edge, std::string_view via, model::Evidence& out) {
  edge.via = out.intern(base::ellipsize(via, 120));
  edge.transport = transport_of(via);
  edge.gdr = via.find("/GDRDMA") != std::string_view::npos;
  Cursor c(via);
  if (!c.eat("NET/")) return;
  c.until("/");
  if (c.eat("/")) edge.device = c.number<std::int32_t>().value_or(-1);
}

bool read_edge(const Input& in, State& state, Cursor c, std::int32_t channel) {
  model::NcclEdge edge;
  edge.at = in.at();
  edge.host = in.host();
  edge.pid = in.head.pid;
  edge.channel = channel;
  const auto from = rank_with_device(c);
  c.blanks();
  if (!from || !c.eat("->")) return false;
  const auto to = rank_with_device(c);
  if (!to) return false;
  edge.from = *from;
  edge.to = *to;
  c.blanks();
  edge.has_direction = c.rest().starts_with("[send]") || c.rest().starts_with("[receive]");
  edge.is_send = !c.rest().starts_with("[receive]");
  if (!c.skip_past("via ")) return false;
  read_via(edge, base::trim(c.rest()), in.out);
  edge.comm = comm_of(in, state);
  if (state.room(in, in.out.nccl.edges.size(), "connections")) in.out.nccl.edges.push_back(edge);
  raise_connecting(in, state);
  return true;
}

bool read_ring_order(const Input& in, State& state, Cursor c, std::int32_t channel) {
  model::NcclRing ring;
  for (const auto word : base::split_blanks(c.rest())) {
    const auto rank = base::to_int<std::int32_t>(word);
    if (!rank || *rank < 0) {
      ring.truncated = true;  // "..." or a rank that was cut
      break;
    }
    ring.order.push_back(*rank);
  }
  if (ring.order.empty()) return false;
  const auto* comm = state.current(in);
  if (comm && comm->nranks > 0 && ring.order.size() < static_cast<std::size_t>(comm->nranks)) ring.truncated = true;
  if (ring.truncated && !in.head.message.ends_with("...")) ring.order.pop_back();  // its last digits may be cut
  ring.at = in.at();
  ring.host = in.host();
  ring.pid = in.head.pid;
  ring.comm = comm_of(in, state);
  ring.channel = channel;
  ring.rank = comm ? comm->rank : -1;
  if (state.room(in, in.out.nccl.rings.size(), "rings")) in.out.nccl.rings.push_back(std::move(ring));
  return true;
}

bool read_channel(const Input& in, State& state) {
  Cursor c(in.head.message);
  if (!c.eat("Channel ")) return false;
  const auto channel = c.number<std::int32_t>();
  if (!channel) return false;
  if (c.eat("/")) c.number<std::int32_t>();
  c.blanks();
  if (!c.eat(":")) return false;
  return read_edge(in, state, c, *channel) || read_ring_order(in, state, c, *channel);
}

bool read_ring_place(const Input& in, State& state) {
  Cursor c(in.head.message);
  if (!c.eat("Ring ")) return false;
  const auto channel = c.number<std::int32_t>();
  if (!channel || !c.eat(" : ")) return false;
  model::NcclRing ring;
  const auto prev = c.number<std::int32_t>();
  if (!prev || !c.eat(" -> ")) return false;
  const auto rank = c.number<std::int32_t>();
  if (!rank || !c.eat(" -> ")) return false;
  const auto next = c.number<std::int32_t>();
  if (!next) return false;
  ring.at = in.at();
  ring.host = in.host();
  ring.pid = in.head.pid;
  ring.comm = comm_of(in, state);
  ring.channel = *channel;
  ring.prev = *prev;
  ring.rank = *rank;
  ring.next = *next;
  if (state.room(in, in.out.nccl.rings.size(), "rings")) in.out.nccl.rings.push_back(std::move(ring));
  return true;
}

// "1/4/-1" -> three children
bool read_children(Cursor& c, model::NcclTree& tree) {
  for (std::size_t child = 0; child < tree.down.size(); ++child) {
    if (child && !c.eat("/")) return child == 2;  // two children before 2.4.8
    const auto rank = c.number<std::int32_t>();
    if (!rank) return false;
    tree.down[child] = *rank;
  }
  return true;
}

void add_tree(const Input& in, State& state, model::NcclTree tree) {
  tree.at = in.at();
  tree.host = in.host();
  tree.pid = in.head.pid;
  tree.comm = comm_of(in, state);
  if (state.room(in, in.out.nccl.trees.size(), "trees")) in.out.nccl.trees.push_back(tree);
}

bool read_trees(const Input& in, State& state) {
  Cursor c(in.head.message);
  if (!c.eat("Trees [")) return false;
  const bool cut = in.line.body.size() >= kLineLimit;
  bool any = false;
  do {
    model::NcclTree tree;
    const auto channel = c.number<std::int32_t>();
    if (!channel || !c.eat("] ") || !read_children(c, tree) || !c.eat("->")) break;
    const auto rank = c.number<std::int32_t>();
    if (!rank || !c.eat("->")) break;
    const auto up = c.number<std::int32_t>();
    if (!up || (cut && c.empty())) break;
    tree.channel = *channel;
    tree.rank = *rank;
    tree.up = *up;
    add_tree(in, state, tree);
    any = true;
    c.blanks();
  } while (c.eat("["));
  raise_connecting(in, state);
  return any;
}

bool read_tree_place(const Input& in, State& state) {
  Cursor c(in.head.message);
  if (!c.eat("Tree ")) return false;
  model::NcclTree tree;
  const auto channel = c.number<std::int32_t>();
  if (!channel || !c.eat(" : ")) return false;
  const auto up = c.number<std::int32_t>();
  if (!up || !c.eat(" -> ")) return false;
  const auto rank = c.number<std::int32_t>();
  if (!rank || !c.eat(" -> ") || !read_children(c, tree)) return false;
  tree.channel = *channel;
  tree.rank = *rank;
  tree.up = *up;
  add_tree(in, state, tree);
  return true;
}

}  // namespace

bool read_topology_line(const Input& in, State& state) {
  switch (in.head.message.empty() ? '\0' : in.head.message.front()) {
    case 'C': return read_channel(in, state);
    case 'R': return read_ring_place(in, state);
    case 'T': return read_trees(in, state) || read_tree_place(in, state);
    default: return false;
  }
}

}  // namespace holter::formats::nccl
