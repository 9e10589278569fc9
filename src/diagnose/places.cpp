// SPDX-License-Identifier: Apache-2.0
#include "diagnose/places.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace holter::diagnose {

std::string who(const Context& context, const model::RankSet& ranks) {
  if (ranks.empty()) return "no rank";
  std::string out = (ranks.size() == 1 ? "rank " : "ranks ") + base::ellipsize(ranks.to_string(), 60);
  if (ranks.size() == 1) {
    const auto node = context.job.node_of.find(ranks.first());
    if (node != context.job.node_of.end()) out += " (" + node->second + ")";
  }
  return out;
}

std::string call_name(const Context& context, const hang::CallState& calls, const hang::Call& call) {
  const auto op = context.text(call.op);
  return fmt::format("{} #{} of {}", op.empty() ? "a collective" : op, call.seq, calls.groups[call.group].label());
}

bool is_library_frame(std::string_view file) {
  for (const std::string_view part : {"torch/", "site-packages/", "dist-packages/", "/lib/python", "contextlib.py",
                                      "threading.py", "runpy.py", "<frozen"}) {
    if (file.find(part) != std::string_view::npos) return true;
  }
  return file.ends_with(".so") || file.ends_with(".cpp") || file.ends_with(".cc") || file.ends_with(".h");
}

namespace {
std::string frame_text(const Context& context, const model::Frame& f) {
  const auto file = context.text(f.file);
  if (file.empty()) return std::string(context.text(f.function));
  const auto slash = file.rfind('/');
  const auto name = slash == std::string_view::npos ? file : file.substr(slash + 1);
  return f.line > 0 ? fmt::format("{} ({}:{})", context.text(f.function), name, f.line)
                    : fmt::format("{} ({})", context.text(f.function), name);
}
}  // namespace

std::string user_place(const Context& context, model::FrameListId frames) {
  for (const auto& f : context.evidence.frame_lists[static_cast<std::uint32_t>(frames)]) {
    if (!is_library_frame(context.text(f.file))) return frame_text(context, f);
  }
  return "";
}

std::string frames_text(const Context& context, model::FrameListId frames) {
  std::string out;
  for (const auto& f : context.evidence.frame_lists[static_cast<std::uint32_t>(frames)]) {
    out += (out.empty() ? "" : " < ") + frame_text(context, f);
  }
  return base::ellipsize(out, 300);
}

model::Citation cite_call(const Context& context, const hang::CallState& calls, const hang::Call& call,
                          std::string_view why) {
  std::string text = fmt::format("rank {}: {}", call.rank, call_name(context, calls, call));
  if (call.numel_in > 0 || call.numel_out > 0)
    text += fmt::format(", {} -> {} elements", call.numel_in, call.numel_out);
  if (call.shape != model::ShapeId::kNone) {
    const auto& shape = context.evidence.shapes[static_cast<std::uint32_t>(call.shape)];
    text += fmt::format(" {} {}", context.text(shape.input_sizes), context.text(shape.input_dtypes));
  }
  if (const auto place = frames_text(context, call.frames); !place.empty()) text += " at " + place;
  return cite(context, call.at, text, why);
}

std::vector<model::Culprit> rank_culprits(const Context& context, const model::RankSet& ranks) {
  std::vector<model::Culprit> out;
  for (const auto r : ranks.to_vector()) {
    model::Culprit c;
    c.kind = model::CulpritKind::kRank;
    c.rank = r;
    if (const auto node = context.job.node_of.find(r); node != context.job.node_of.end()) c.node = node->second;
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace holter::diagnose
