// SPDX-License-Identifier: Apache-2.0
#include "formats/manifest/manifest_reader.h"

#include <fmt/format.h>

#include "base/json_document.h"
#include "base/strings.h"
#include "formats/facts/whole_text.h"

namespace holter::formats::manifest {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxRows = 100'000;
constexpr std::size_t kMaxText = 300;

using Value = base::JsonValue;

std::string_view text_of(const Value& object, const char* key) {
  const auto found = object.FindMember(key);
  if (found == object.MemberEnd() || !found->value.IsString()) return {};
  return {found->value.GetString(), found->value.GetStringLength()};
}

class Manifest {
 public:
  Manifest(FileContext context, model::Evidence& out) : context_(context), out_(out) {}

  void read(const Value& root) {
    context_.file->version = std::string(text_of(root, "schema"));
    node_ = text_of(root, "host");
    processes(root);
    rows(root, "hosts", "collect.host", "host");
    rows(root, "items", "collect.item", "item");
    context_.file->counts = {{"rows", rows_}};
  }

 private:
  void processes(const Value& root) {
    const auto found = root.FindMember("processes");
    if (found == root.MemberEnd() || !found->value.IsArray()) return;
    for (const auto& row : found->value.GetArray()) {
      if (!row.IsObject() || rows_++ >= kMaxRows) continue;
      const auto started = row.FindMember("started_ns");
      const auto rank = row.FindMember("rank");
      if (started == row.MemberEnd() || !started->value.IsInt64() || started->value.GetInt64() <= 0) continue;
      model::Fact f;
      f.at = {context_.id, model::PosKind::kRecord, rows_};
      f.key = out_.intern("collect.process");
      f.number = static_cast<double>(started->value.GetInt64()) / 1e9;
      f.has_number = true;
      f.text = out_.intern(base::ellipsize(text_of(row, "command"), kMaxText));
      if (!node_.empty()) f.node = out_.intern(base::ellipsize(node_, kMaxText));
      if (rank != row.MemberEnd() && rank->value.IsInt() && rank->value.GetInt() >= 0)
        f.rank = model::GlobalRank{rank->value.GetInt()};
      out_.facts.push_back(f);
    }
  }
  void rows(const Value& root, const char* list, const char* key, const char* subject) {
    const auto found = root.FindMember(list);
    if (found == root.MemberEnd() || !found->value.IsArray()) return;
    for (const auto& row : found->value.GetArray()) {
      if (!row.IsObject() || rows_++ >= kMaxRows) continue;
      const auto status = text_of(row, "status");
      if (status.empty() || status == "taken") continue;
      add(key, text_of(row, subject), status, text_of(row, "detail"));
    }
  }
  void add(const char* key, std::string_view subject, std::string_view status, std::string_view detail) {
    model::Fact f;
    f.at = {context_.id, model::PosKind::kRecord, rows_};
    f.key = out_.intern(key);
    f.subject = out_.intern(base::ellipsize(subject, kMaxText));
    f.value = out_.intern(base::ellipsize(status, kMaxText));
    f.text = out_.intern(base::ellipsize(detail, kMaxText));
    if (!node_.empty()) f.node = out_.intern(base::ellipsize(node_, kMaxText));
    out_.facts.push_back(f);
  }

  FileContext context_;
  model::Evidence& out_;
  std::string_view node_;
  std::uint64_t rows_ = 0;
};

}  // namespace

int ManifestReader::probe(const model::SourceFile&, std::string_view head) const {
  return head.starts_with("{\n \"schema\": \"holter.collect") ? 100 : 0;
}

void ManifestReader::read(ByteSource& source, FileContext context, model::Evidence& out) const {
  auto text = facts::whole_text(source, context, out, kMaxBytes);
  base::JsonDocument document;
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject()) {
    context.file->status = model::FileStatus::kPartial;
    out.add_problem({context.id, model::PosKind::kOffset, document.GetErrorOffset()},
                    "the manifest ends early or is no JSON");
    return;
  }
  Manifest(context, out).read(document);
  if (context.file->status == model::FileStatus::kUnread) context.file->status = model::FileStatus::kRead;
}

}  // namespace holter::formats::manifest
