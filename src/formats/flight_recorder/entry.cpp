// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/entry.h"

#include <algorithm>
#include <charconv>

#include "formats/flight_recorder/values.h"

namespace holter::formats::flight_recorder {

namespace {

constexpr std::size_t kMaxFrames = 512;
constexpr std::size_t kMaxShapeText = 4096;

model::OpState state_of(std::string_view text) {
  if (text == "scheduled") return model::OpState::kScheduled;
  if (text == "started") return model::OpState::kStarted;
  if (text == "completed") return model::OpState::kCompleted;
  return model::OpState::kUnknown;
}

bool is_backend(std::string_view text) {
  return !text.empty() && text.size() <= 16 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

void append_int(std::string& out, std::int64_t i) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, i).ptr;
  out.append(buffer, end);
}

std::int32_t narrow(std::int64_t i) { return i >= INT32_MIN && i <= INT32_MAX ? static_cast<std::int32_t>(i) : -1; }

}  // namespace

std::optional<model::FrEntry> EntryDecoder::decode(std::span<const Value> pairs) {
  model::FrEntry entry;
  Raw raw;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) field(pairs[i].key, pairs[i + 1], entry, raw);
  set_group(raw.group, entry);
  set_name(as_string(raw.name, stack_, out_), entry);
  if (raw.is_p2p.kind != Kind::kNone) entry.is_p2p = as_bool(raw.is_p2p, out_);
  if (const auto seq = as_int(raw.seq_id, out_); seq && entry.collective_seq < 0 && entry.p2p_seq < 0) {
    (entry.is_p2p ? entry.p2p_seq : entry.collective_seq) = *seq;  // 1.x: one counter
  }
  const bool has_number = entry.collective_seq >= 0 || entry.p2p_seq >= 0 || entry.op_id >= 0;
  if (entry.op == model::StrId::kEmpty && !has_number) return std::nullopt;
  entry.shape = shape(raw);
  entry.frames = frames(raw.frames);
  return entry;
}

void EntryDecoder::field(Key key, const Value& v, model::FrEntry& entry, Raw& raw) {
  switch (key) {
    case Key::kFrames: raw.frames = v; break;
    case Key::kRecordId: entry.record_id = int_or(v, out_, -1); break;
    case Key::kPgId: entry.pg_id = narrow(int_or(v, out_, -1)); break;
    case Key::kProcessGroup: raw.group = v; break;
    case Key::kPgName: entry.group_name = as_string(v, stack_, out_); break;
    case Key::kPgDesc: entry.group_desc = as_string(v, stack_, out_); break;
    case Key::kThreadName: entry.thread_name = as_string(v, stack_, out_); break;
    case Key::kSeqId: raw.seq_id = v; break;
    case Key::kCollectiveSeqId: entry.collective_seq = int_or(v, out_, -1); break;
    case Key::kP2pSeqId: entry.p2p_seq = int_or(v, out_, -1); break;
    case Key::kOpId: entry.op_id = int_or(v, out_, -1); break;
    case Key::kProfilingName: raw.name = v; break;
    case Key::kCreatedNs: entry.created_ns = int_or(v, out_, 0); break;
    case Key::kCreatedUs:
      entry.created_ns = std::clamp<std::int64_t>(int_or(v, out_, 0), 0, INT64_MAX / 1000) * 1000;
      break;
    case Key::kDurationMs:
      if (v.kind == Kind::kFloat) entry.duration_ms = static_cast<float>(v.real);
      if (v.kind == Kind::kInt) entry.duration_ms = static_cast<float>(v.integer);
      break;
    case Key::kInputSizes: raw.input_sizes = v; break;
    case Key::kOutputSizes: raw.output_sizes = v; break;
    case Key::kInputDtypes: raw.input_dtypes = v; break;
    case Key::kOutputDtypes: raw.output_dtypes = v; break;
    case Key::kState:
      entry.state = v.kind == Kind::kString ? state_of(out_.text(model::StrId{v.id})) : entry.state;
      break;
    case Key::kStartedNs: entry.started_ns = int_or(v, out_, 0); break;
    case Key::kCompletedNs: entry.completed_ns = int_or(v, out_, 0); break;
    case Key::kRetired: entry.retired = as_bool(v, out_); break;
    case Key::kTimeoutMs:
      entry.timeout_ms = static_cast<std::uint32_t>(std::clamp<std::int64_t>(int_or(v, out_, 0), 0, UINT32_MAX));
      break;
    case Key::kIsP2p: raw.is_p2p = v; break;
    default: break;
  }
}

void EntryDecoder::set_name(model::StrId profiling_name, model::FrEntry& entry) {
  const auto [it, is_new] = names_.try_emplace(static_cast<std::uint32_t>(profiling_name));
  if (is_new) {
    const std::string name(out_.text(profiling_name));
    const auto colon = name.find(':');
    const bool has_backend = colon != std::string::npos && is_backend(std::string_view(name).substr(0, colon));
    const auto op = std::string_view(name).substr(has_backend ? colon + 1 : 0);
    it->second.backend = has_backend ? out_.intern(std::string_view(name).substr(0, colon)) : model::StrId::kEmpty;
    it->second.op = out_.intern(op);
    it->second.looks_p2p = op.substr(0, 5) == "send " || op.substr(0, 5) == "recv ";
  }
  entry.backend = it->second.backend;
  entry.op = it->second.op;
  entry.is_p2p = it->second.looks_p2p;
}

// ("41", "TENSOR_MODEL_PARALLEL_GROUP"), a list of the same in JSON, or the bare name.
void EntryDecoder::set_group(const Value& v, model::FrEntry& entry) {
  if (v.kind == Kind::kList || v.kind == Kind::kTuple) {
    const auto parts = stack_.items(v);
    if (!parts.empty()) entry.group_name = as_string(parts[0], stack_, out_);
    if (parts.size() > 1) entry.group_desc = as_string(parts[1], stack_, out_);
  } else if (v.kind != Kind::kNone) {
    entry.group_name = as_string(v, stack_, out_);
  }
}

model::ShapeId EntryDecoder::shape(const Raw& raw) {
  model::Shape shape;
  shape.input_sizes = sizes_text(raw.input_sizes, shape.numel_in);
  shape.output_sizes = sizes_text(raw.output_sizes, shape.numel_out);
  shape.input_dtypes = dtypes_text(raw.input_dtypes);
  shape.output_dtypes = dtypes_text(raw.output_dtypes);
  return out_.intern_shape(shape);
}

// "[[4096, 5120], [8]]"; a flat list is one tensor.
model::StrId EntryDecoder::sizes_text(const Value& v, std::uint64_t& numel) {
  if (v.kind == Kind::kString) return model::StrId{v.id};
  const auto tensors = stack_.items(v);
  if (tensors.empty()) return model::StrId::kEmpty;
  text_ = "[";
  const bool flat = !tensors.front().is_container();
  const std::size_t count = flat ? 1 : tensors.size();
  for (std::size_t t = 0; t < count && text_.size() < kMaxShapeText; ++t) {
    if (t > 0) text_ += ", ";
    text_ += '[';
    std::uint64_t product = 1;
    bool first = true;
    for (const auto& dim : flat ? tensors : stack_.items(tensors[t])) {
      if (!first) text_ += ", ";
      first = false;
      const auto size = int_or(dim, out_, 0);
      append_int(text_, size);
      product *= static_cast<std::uint64_t>(size);  // wraps on nonsense; only compared
      if (text_.size() >= kMaxShapeText) break;
    }
    text_ += ']';
    numel += product;
  }
  text_ += ']';
  return out_.intern(text_);
}

// "BFloat16" when all tensors have it, else "Float, Long".
model::StrId EntryDecoder::dtypes_text(const Value& v) {
  if (v.kind == Kind::kString) return model::StrId{v.id};
  const auto types = stack_.items(v);
  if (types.empty()) return model::StrId::kEmpty;
  const bool same = std::all_of(types.begin(), types.end(), [&](const Value& t) {
    return t.kind == types.front().kind && t.id == types.front().id;
  });
  if (same) return as_string(types.front(), stack_, out_);
  text_.clear();
  for (const auto& type : types) {
    if (!text_.empty()) text_ += ", ";
    text_ += out_.text(as_string(type, stack_, out_));
    if (text_.size() > kMaxShapeText) break;
  }
  return out_.intern(text_);
}

model::FrameListId EntryDecoder::frames(const Value& v) {
  frames_.clear();
  for (const auto& item : stack_.items(v)) {
    if (frames_.size() >= kMaxFrames) break;
    const auto pairs = stack_.items(item);
    model::Frame frame;
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
      switch (pairs[i].key) {
        case Key::kName: frame.function = as_string(pairs[i + 1], stack_, out_); break;
        case Key::kFilename: frame.file = as_string(pairs[i + 1], stack_, out_); break;
        case Key::kLine: frame.line = narrow(int_or(pairs[i + 1], out_, -1)); break;
        default: break;
      }
    }
    const auto file = out_.text(frame.file);
    const bool native = file.ends_with(".cpp") || file.ends_with(".cc") || file.ends_with(".so") || file == "??";
    frame.kind = native ? model::FrameKind::kNative : model::FrameKind::kPython;
    frames_.push_back(frame);
  }
  return out_.intern_frames(frames_);
}

}  // namespace holter::formats::flight_recorder
