// SPDX-License-Identifier: Apache-2.0
#include "hang/call_notes.h"

#include "base/strings.h"

namespace holter::hang {

namespace {

// "tp all_to_all seq 11": group first, sequence number last; false when it is not of that form.
bool read_item(std::string_view item, CallNote& note) {
  const auto words = base::split_blanks(item);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != "seq" && words[i] != "seq:") continue;
    std::string_view number = words[i + 1];
    while (!number.empty() && (number.back() < '0' || number.back() > '9')) number.remove_suffix(1);
    const auto seq = base::to_int<std::int64_t>(number);
    if (!seq || i == 0) return false;
    note.group = words[0];
    note.seq = *seq;
    return true;
  }
  return false;
}

void read_note(std::string_view text, const CallNote& base_note, std::vector<CallNote>& out) {
  for (auto part : base::split(text, ';')) {
    part = base::trim(part);
    const bool completed = base::contains_ignore_case(part, "completed");
    if (!completed && !base::contains_ignore_case(part, "enqueued")) continue;
    const auto verb = completed ? std::string_view("completed") : std::string_view("enqueued");
    const auto at = base::lower(part).find(verb);
    auto list = part.substr(at + verb.size());
    while (!list.empty() && (list.front() == ':' || list.front() == ' ')) list.remove_prefix(1);
    for (const auto item : base::split(list, ',')) {
      CallNote note = base_note;
      note.completed = completed;
      if (read_item(item, note)) out.push_back(note);
    }
  }
}

}  // namespace

std::vector<CallNote> notes_of_stacks(const model::Evidence& evidence) {
  std::vector<CallNote> out;
  for (const auto& s : evidence.stacks) {
    if (s.note == model::StrId::kEmpty) continue;
    CallNote note;
    note.ranks = s.ranks;
    if (value(s.rank) >= 0) note.ranks.insert(value(s.rank));
    note.at = s.at;
    if (!note.ranks.empty()) read_note(evidence.text(s.note), note, out);
  }
  return out;
}

}  // namespace holter::hang
