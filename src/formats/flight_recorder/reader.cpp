// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/reader.h"

#include <algorithm>

#include "base/strings.h"
#include "formats/flight_recorder/dump_builder.h"
#include "formats/flight_recorder/json.h"
#include "formats/flight_recorder/pickle.h"

namespace holter::formats::flight_recorder {

namespace {

template <typename Run>
void read_dump(ByteSource& source, FileContext context, model::Evidence& out, Run run) {
  ValueStack stack(out, nullptr);
  DumpBuilder builder(context, stack, out);
  stack.set_sink(&builder);
  ParseEnd end = run(source, stack);
  if (!end.complete) stack.close_all();
  builder.finish(stack.root(), end);
}

bool mentions_dump_keys(std::string_view head) {
  for (const std::string_view key : {"pg_config", "pg_status", "profiling_name", "nccl_comm_state"}) {
    if (head.find(key) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

int PickleReader::probe(const model::SourceFile&, std::string_view head) const {
  if (head.size() < 3 || head[0] != '\x80' || head[1] < 2 || head[1] > 5) return 0;
  auto body = head.substr(2);
  if (body.front() == '\x95') body.remove_prefix(std::min<std::size_t>(9, body.size()));
  if (body.empty() || (body.front() != '}' && body.front() != ']')) return 0;
  if (mentions_dump_keys(head)) return 95;
  // A dump that was cut after a few bytes still begins like one.
  return head.find("version") != std::string_view::npos ? 80 : 30;
}

void PickleReader::read(ByteSource& source, FileContext context, model::Evidence& out) const {
  read_dump(source, context, out, [](ByteSource& s, ValueStack& v) { return run_pickle(s, v); });
}

int JsonReader::probe(const model::SourceFile&, std::string_view head) const {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const auto body = base::trim(head);
  if (body.empty() || (body.front() != '{' && body.front() != '[')) return 0;
  for (const std::string_view key : {"\"pg_config\"", "\"pg_status\"", "\"profiling_name\"", "\"nccl_comm_state\""}) {
    const auto at = body.find(key);
    if (at == std::string_view::npos) continue;
    const auto rest = base::trim(body.substr(at + key.size(), 8));
    if (rest.empty() || rest.front() == ':') return 95;
  }
  return 0;
}

void JsonReader::read(ByteSource& source, FileContext context, model::Evidence& out) const {
  read_dump(source, context, out, [](ByteSource& s, ValueStack& v) { return run_json(s, v); });
}

}  // namespace holter::formats::flight_recorder
