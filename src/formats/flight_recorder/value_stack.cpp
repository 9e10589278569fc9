// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/value_stack.h"

#include <algorithm>

namespace holter::formats::flight_recorder {

namespace {

constexpr std::size_t kMaxInterned = 1024;  // longer text stays with the dump
constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20;
constexpr std::size_t kMinRankList = 32;
constexpr const char* kTooDeep = "nested too deep";
constexpr const char* kTooMany = "too many values";
constexpr const char* kGoneContainer = "changes a value of an earlier entry";
constexpr const char* kUnderflow = "a value is missing";

bool looks_like_rank_list(std::string_view text) {
  if (text.size() < kMinRankList || text.front() != '[' || text.back() != ']') return false;
  // The rest is checked by the parser of rank lists, once per distinct text.
  return text[1] >= '0' && text[1] <= '9' && text[text.size() - 2] >= '0' && text[text.size() - 2] <= '9';
}

}  // namespace

ValueStack::ValueStack(model::Evidence& out, EntrySink* sink) : out_(out), sink_(sink), keys_(out.strings) {}

Value ValueStack::make_int(std::int64_t i) {
  Value v;
  v.kind = Kind::kInt;
  v.integer = i;
  return v;
}

Value ValueStack::make_real(double d) {
  Value v;
  v.kind = Kind::kFloat;
  v.real = d;
  return v;
}

Value ValueStack::make_bool(bool b) {
  Value v;
  v.kind = Kind::kBool;
  v.integer = b;
  return v;
}

Value ValueStack::make_string(std::string_view text) {
  Value v;
  if (looks_like_rank_list(text)) {
    const auto list = out_.intern_rank_list(text);
    if (list != model::RankListId::kNone) {
      v.kind = Kind::kRankList;
      v.id = static_cast<std::uint32_t>(list);
      return v;
    }
  }
  if (text.size() > kMaxInterned && text_bytes_ + text.size() <= kMaxTextBytes) {
    v.kind = Kind::kText;
    v.id = static_cast<std::uint32_t>(texts_.size());
    text_bytes_ += text.size();
    texts_.emplace_back(text);
    return v;
  }
  const auto id = out_.intern(text.substr(0, kMaxInterned));
  v.kind = Kind::kString;
  v.key = keys_.find(id);
  v.id = static_cast<std::uint32_t>(id);
  return v;
}

const char* ValueStack::add_node(Kind kind, Value& container) {
  if (nodes_.size() >= kMaxValues) return kTooMany;
  container.kind = kind;
  container.id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({static_cast<std::uint32_t>(items_.size()), 0, 0});
  return nullptr;
}

const char* ValueStack::push_empty(Kind kind) {
  Value container;
  if (const char* error = add_node(kind, container)) return error;
  return push(container);
}

// A list at `index` of the stack holds the entries when it is the root or the root's "entries".
bool ValueStack::is_entries_list(std::size_t index) const {
  if (stack_[index].kind != Kind::kList) return false;
  if (index == 0) return true;
  if (stack_[index - 1].key != Key::kEntries || stack_.front().kind != Kind::kDict) return false;
  if (index - 1 == 1) return marks_.empty() || marks_.front() == 1 || marks_.front() > index;
  return !marks_.empty() && marks_.front() == 1 && (marks_.size() == 1 || marks_[1] > index);
}

bool ValueStack::is_entry(std::size_t index) const {
  if (!sink_ || index == 0 || stack_[index].kind != Kind::kDict) return false;
  // Either [list] mark ... [dict], or [list][dict] to be appended alone. marks_.back() is the dict's own.
  const auto inner = std::find_if(marks_.rbegin(), marks_.rend(), [&](auto m) { return m <= index; });
  if (inner != marks_.rend() && *inner > 0 && is_entries_list(*inner - 1)) return true;
  return is_entries_list(index - 1);
}

void ValueStack::hand_over(std::size_t dict_index, std::span<const Value> pairs) {
  ++entries_;
  sink_->on_entry(pairs);
  const auto node = stack_[dict_index].id;
  if (last_memo_node_ < static_cast<std::int64_t>(node) && node < nodes_.size()) {
    // Nothing of the entry can be referred to again.
    items_.resize(std::min<std::size_t>(items_.size(), nodes_[node].first));
    nodes_.resize(node);
    stack_[dict_index].id = 0;
  }
  stack_[dict_index].kind = Kind::kGone;
}

const char* ValueStack::extend(Value container, std::span<const Value> more) {
  if (items_.size() + more.size() > kMaxValues) return kTooMany;
  if (container.id >= nodes_.size()) return kGoneContainer;
  auto& node = nodes_[container.id];
  if (node.first + std::size_t{node.capacity} > items_.size()) return kGoneContainer;
  if (node.count + more.size() > node.capacity) {
    const bool at_end = node.first + node.capacity == items_.size();
    if (!at_end) {  // move to the end, with room to grow
      if (items_.size() + node.count * 2 + more.size() > kMaxValues) return kTooMany;
      const auto first = static_cast<std::uint32_t>(items_.size());
      items_.resize(items_.size() + node.count);
      std::copy_n(items_.begin() + node.first, node.count, items_.begin() + first);
      node.first = first;
    }
    const std::size_t want = node.count + more.size();
    node.capacity = static_cast<std::uint32_t>(node.count == 0 ? want : want + want / 2);
    items_.resize(node.first + node.capacity);
  }
  std::copy(more.begin(), more.end(), items_.begin() + node.first + node.count);
  node.count += static_cast<std::uint32_t>(more.size());
  return nullptr;
}

const char* ValueStack::set_items() {
  if (marks_.empty() || marks_.back() == 0) return kUnderflow;
  const auto first = marks_.back();
  const std::span<const Value> pairs(stack_.data() + first, stack_.size() - first);
  const auto dict = stack_[first - 1];
  if (dict.kind != Kind::kDict || pairs.size() % 2 != 0) return "items for something that is no dict";
  marks_.pop_back();
  if (is_entry(first - 1)) {
    hand_over(first - 1, pairs);
    drop_above(first);
    // Above the list's mark nobody misses it.
    if (!marks_.empty() && marks_.back() <= first - 1 && is_entries_list(marks_.back() - 1)) stack_.pop_back();
    return nullptr;
  }
  const char* error = extend(dict, pairs);
  drop_above(first);
  return error;
}

const char* ValueStack::append_items() {
  if (marks_.empty() || marks_.back() == 0) return kUnderflow;
  const auto first = marks_.back();
  const auto list = stack_[first - 1];
  if (list.kind != Kind::kList) return "items for something that is no list";
  marks_.pop_back();
  const std::span<const Value> more(stack_.data() + first, stack_.size() - first);
  const char* error = nullptr;
  if (sink_ && is_entries_list(first - 1)) {
    for (const auto& v : more) {
      if (v.kind == Kind::kDict && !items(v).empty()) ++entries_, sink_->on_entry(items(v));
    }
  } else {
    error = extend(list, more);
  }
  drop_above(first);
  return error;
}

const char* ValueStack::set_item() {
  if (stack_.size() < 3 || (!marks_.empty() && marks_.back() + 2 > stack_.size())) return kUnderflow;
  marks_.push_back(stack_.size() - 2);
  return set_items();
}

const char* ValueStack::append_item() {
  if (stack_.size() < 2 || (!marks_.empty() && marks_.back() + 1 > stack_.size())) return kUnderflow;
  marks_.push_back(stack_.size() - 1);
  return append_items();
}

const char* ValueStack::fold_tuple(std::size_t count) {
  if (stack_.size() < count + (marks_.empty() ? 0 : marks_.back())) return kUnderflow;
  if (marks_.size() >= kMaxDepth) return kTooDeep;
  marks_.push_back(stack_.size() - count);
  return fold_mark(Kind::kTuple);
}

const char* ValueStack::fold_mark(Kind kind) {
  if (marks_.empty()) return kUnderflow;
  const auto first = marks_.back();
  marks_.pop_back();
  const std::span<const Value> above(stack_.data() + first, stack_.size() - first);
  if (kind == Kind::kDict && above.size() % 2 != 0) return kUnderflow;
  Value container;
  if (const char* error = add_node(kind, container)) return error;
  const char* error = extend(container, above);
  drop_above(first);
  stack_.push_back(container);
  return error;
}

const char* ValueStack::pop() {
  if (stack_.empty() || (!marks_.empty() && marks_.back() == stack_.size())) return kUnderflow;
  stack_.pop_back();
  return nullptr;
}

const char* ValueStack::pop_mark() {
  if (marks_.empty()) return kUnderflow;
  stack_.resize(marks_.back());
  marks_.pop_back();
  return nullptr;
}

const char* ValueStack::duplicate() {
  if (stack_.empty()) return kUnderflow;
  keep(stack_.back());
  return push(stack_.back());
}

const char* ValueStack::put_memo(std::size_t index) {
  if (stack_.empty()) return kUnderflow;
  if (index >= kMaxMemo) return "memo index too large";
  if (index >= memo_.size()) memo_.resize(index + 1);
  keep(stack_.back());
  memo_[index] = stack_.back();
  return nullptr;
}

void ValueStack::close_all() {
  while (!marks_.empty()) {
    const auto first = marks_.back();
    const bool has_owner = first > 0 && first <= stack_.size();
    const auto owner = has_owner ? stack_[first - 1].kind : Kind::kNone;
    const char* error = nullptr;
    if (owner == Kind::kDict) {
      if (is_entry(first - 1)) {
        stack_.resize(first - 1);
        marks_.pop_back();
        continue;
      }
      if ((stack_.size() - first) % 2 != 0) stack_.pop_back();
      error = set_items();
    } else if (owner == Kind::kList) {
      error = append_items();
    } else {
      stack_.resize(std::min(first, stack_.size()));
      marks_.pop_back();
    }
    if (error) {
      stack_.resize(std::min(first, stack_.size()));
      if (!marks_.empty() && marks_.back() == first) marks_.pop_back();
    }
  }
  // Values that were pushed without a mark: [dict] key value, [list] value.
  if (stack_.size() >= 3 && stack_[0].kind == Kind::kDict) (void)extend(stack_[0], {stack_.data() + 1, 2});
  if (stack_.size() > 1) stack_.resize(1);
}

std::span<const Value> ValueStack::items(Value container) const {
  if (!container.is_container() || container.id >= nodes_.size()) return {};
  const auto& node = nodes_[container.id];
  if (node.first + std::size_t{node.count} > items_.size()) return {};
  return {items_.data() + node.first, node.count};
}

}  // namespace holter::formats::flight_recorder
