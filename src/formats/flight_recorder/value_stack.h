// SPDX-License-Identifier: Apache-2.0
// The stack machine that both parsers drive, shaped after pickle: containers are pushed empty, a mark
// is set, items are pushed, and set_items() or append_items() folds them into the container.
//
// Entries of the dump (dicts in the root's "entries", or in the root itself in the oldest version) are
// handed to an EntrySink at the moment they are complete and their memory is reused. Everything else
// (group tables) is small and stays until the end. All sizes are bounded; operations return a reason
// (never null text) when the input is malformed or a bound is reached, and nullptr when they worked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/flight_recorder/keys.h"
#include "model/evidence.h"

namespace holter::formats::flight_recorder {

enum class Kind : std::uint8_t {
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,    // `id` is a StrId of the evidence
  kText,      // long text: `id` indexes the texts of the stack
  kRankList,  // text like "[0, 1, 2]": `id` is a RankListId of the evidence
  kList,
  kTuple,
  kDict,  // `id` is a node
  kGone,  // an entry that was handed over
};

struct Value {
  Kind kind = Kind::kNone;
  Key key = Key::kOther;  // of a kString that is a known key
  std::uint32_t id = 0;
  union {
    std::int64_t integer = 0;
    double real;
  };
  bool is_container() const { return kind == Kind::kList || kind == Kind::kTuple || kind == Kind::kDict; }
};

class EntrySink {
 public:
  virtual ~EntrySink() = default;
  // Keys and values in turn. The values are gone after the call.
  virtual void on_entry(std::span<const Value> pairs) = 0;
};

class ValueStack {
 public:
  static constexpr std::size_t kMaxDepth = 64;
  static constexpr std::size_t kMaxValues = std::size_t{8} << 20;  // on the stack, and in containers
  static constexpr std::size_t kMaxMemo = std::size_t{4} << 20;

  // `sink` null: entries are ordinary values (nested documents).
  ValueStack(model::Evidence& out, EntrySink* sink);

  void set_sink(EntrySink* sink) { sink_ = sink; }
  const char* push(Value v) {
    if (stack_.size() >= kMaxValues) return "too many values";
    stack_.push_back(v);
    return nullptr;
  }
  static Value make_int(std::int64_t i);
  static Value make_real(double d);
  static Value make_bool(bool b);
  Value make_string(std::string_view text);
  const char* push_empty(Kind kind);

  const char* mark() {
    if (marks_.size() >= kMaxDepth) return "nested too deep";
    marks_.push_back(stack_.size());
    return nullptr;
  }
  const char* set_items();     // mark key value ... -> into the dict below the mark
  const char* append_items();  // mark value ...     -> into the list below the mark
  const char* set_item();
  const char* append_item();
  const char* fold_tuple(std::size_t count);
  const char* fold_mark(Kind kind);  // everything above the mark becomes a new container
  const char* pop();
  const char* pop_mark();
  const char* duplicate();

  const char* put_memo(std::size_t index);
  const char* memoize() { return put_memo(memo_.size()); }
  const char* get_memo(std::size_t index) {
    if (index >= memo_.size()) return "refers to a value that was never stored";
    return push(memo_[index]);
  }

  // The input ended early: closes what is open, dropping incomplete pairs and entries.
  void close_all();
  Value root() const { return stack_.empty() ? Value{} : stack_.front(); }
  std::span<const Value> items(Value container) const;
  std::string_view long_text(Value text) const { return texts_[text.id]; }
  std::uint64_t entries_seen() const { return entries_; }

 private:
  struct Node {
    std::uint32_t first, count, capacity;
  };

  bool is_entries_list(std::size_t index) const;
  bool is_entry(std::size_t index) const;
  void hand_over(std::size_t dict_index, std::span<const Value> pairs);
  // It can be referred to again: its memory must stay.
  void keep(Value v) {
    if (v.is_container()) last_memo_node_ = std::max(last_memo_node_, static_cast<std::int64_t>(v.id));
  }
  void drop_above(std::size_t size) { stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(size), stack_.end()); }
  const char* add_node(Kind kind, Value& container);
  const char* extend(Value container, std::span<const Value> more);

  model::Evidence& out_;
  EntrySink* sink_;
  KeyTable keys_;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;  // index of the first value above each mark
  std::vector<Node> nodes_;
  std::vector<Value> items_;
  std::vector<Value> memo_;
  std::vector<std::string> texts_;
  std::size_t text_bytes_ = 0;
  std::int64_t last_memo_node_ = -1;
  std::uint64_t entries_ = 0;
};

}  // namespace holter::formats::flight_recorder
