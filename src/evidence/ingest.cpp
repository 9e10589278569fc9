// SPDX-License-Identifier: Apache-2.0
#include "evidence/ingest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

#include "base/strings.h"
#include "evidence/decompress.h"
#include "evidence/encoding.h"
#include "evidence/tar.h"

namespace holter::evidence {

namespace {

using model::FileStatus;

struct KnownBinary {
  std::string_view magic;
  std::string_view note;
};

// Formats that nobody reads here, named so that the list of unread files explains itself.
std::string_view describe_unknown(std::string_view head) {
  using namespace std::string_view_literals;
  static constexpr std::array kKnown{
      KnownBinary{"PK\x03\x04"sv, "a zip archive (or a saved model): unpack it and give the folder"},
      KnownBinary{"BZh"sv, "compressed with bzip2: unpack it first"},
      KnownBinary{"\x04\x22\x4d\x18"sv, "compressed with lz4: unpack it first"},
      KnownBinary{"7z\xbc\xaf\x27\x1c"sv, "a 7z archive: unpack it first"},
      KnownBinary{"\x7f"
                  "ELF"sv,
                  "an ELF program, library or core file"},
      KnownBinary{"\x89PNG"sv, "an image"},
      KnownBinary{"\xff\xd8\xff"sv, "an image"},
      KnownBinary{"%PDF-"sv, "a PDF document: export it as text"},
      KnownBinary{"SQLite format 3"sv, "an SQLite database (Nsight Systems exports are such)"},
      KnownBinary{"\x93NUMPY"sv, "a NumPy array"},
      KnownBinary{"LPKSHHRH"sv, "a binary systemd journal: give the output of journalctl"},
  };
  for (const auto& known : kKnown) {
    if (head.starts_with(known.magic)) return known.note;
  }
  return head.find('\0') != std::string_view::npos ? "binary data of an unknown format" : "unknown format";
}

void add_problem(model::Evidence& out, model::FileId id, std::string what) {
  out.files[value(id)].note = what;
  out.add_problem({id, model::PosKind::kNone, 0}, std::move(what));
}

// What ended the data early makes a file that was read a partial one.
void close_books(model::Evidence& out, model::FileId id, std::string_view trouble) {
  if (trouble.empty()) return;
  auto& file = out.files[value(id)];
  if (file.status == FileStatus::kRead) file.status = FileStatus::kPartial;
  add_problem(out, id, std::string(trouble));
}

// `id` is the place that the file will have.
void apply_hint(const NameHint& hint, model::SourceFile& file, model::FileId id, model::Evidence& out) {
  if (hint.impossible_rank) {
    out.add_problem({id, model::PosKind::kNone, 0}, "the name gives a rank that no job has; it is not used");
  }
  if (hint.rank >= 0) file.name_rank = model::GlobalRank{hint.rank};
  if (!hint.node.empty()) file.name_node = out.intern(hint.node);
  if (hint.attempt >= 0) file.name_attempt = hint.attempt;
}

}  // namespace

void Ingest::read(const Input& input, const NameHint& hint, model::Evidence& out) {
  model::SourceFile file;
  const auto id = static_cast<model::FileId>(out.files.size());
  apply_hint(hint, file, id, out);
  file.path = input.shown;
  file.bytes = input.bytes;
  file.modified_ns = input.modified_ns;
  file.note = input.unread;
  std::uint64_t bytes = 0;
  std::string why;
  const base::Fd fd = input.unread.empty() ? opener_.open(input, bytes, why) : base::Fd();
  if (!fd || !budget_.take_file()) {
    out.files.push_back(std::move(file));
    if (fd) why = fmt::format("not read: more than {} files", budget_.limits().max_files);
    if (!why.empty()) add_problem(out, id, why);
    return;
  }
  // The last resort for one input must not be the end of all: memory may run out inside a reader.
  try {
    FileStream stream(fd.get(), bytes, buffer_);
    read_stream(std::move(file), stream, {}, out);
  } catch (const std::exception& error) {
    out.files[value(id)].status = FileStatus::kPartial;
    add_problem(out, id, fmt::format("reading was given up: {}", error.what()));
  }
}

void Ingest::read_stream(model::SourceFile file, Stream& stream, Depth depth, model::Evidence& out) {
  const auto id = static_cast<model::FileId>(out.files.size());
  out.files.push_back(std::move(file));
  BoundedStream input(stream, budget_);
  read_content(id, input, depth, out);
}

void Ingest::read_content(model::FileId id, BoundedStream& input, Depth depth, model::Evidence& out) {
  const auto head = input.head();
  if (detect_compression(head) != Compression::kNone) return read_compressed(id, input, depth, out);
  if (is_tar_header(head)) return read_tar(id, input, depth, out);
  if (const auto encoding = detect_encoding(head); encoding != Encoding::kBytes) {
    const auto text = as_utf8(encoding, input);
    BoundedStream content(*text, budget_);
    return read_format(id, content, out);
  }
  read_format(id, input, out);
}

void Ingest::read_compressed(model::FileId id, BoundedStream& input, Depth depth, model::Evidence& out) {
  if (depth.compressions > budget_.limits().max_archive_depth) {
    return add_problem(out, id,
                       fmt::format("not read: compressed more than {} times", budget_.limits().max_archive_depth));
  }
  ++depth.compressions;
  const auto plain = decompress(detect_compression(input.head()), input, budget_.limits());
  BoundedStream content(*plain, budget_);
  read_content(id, content, depth, out);
}

void Ingest::read_tar(model::FileId id, BoundedStream& input, Depth depth, model::Evidence& out) {
  out.files[value(id)].format = "tar";
  if (depth.archives >= budget_.limits().max_archive_depth) {
    return add_problem(
        out, id,
        fmt::format("not read: archives inside archives, more than {} deep", budget_.limits().max_archive_depth));
  }
  ++depth.archives;
  out.files[value(id)].status = FileStatus::kRead;
  TarReader archive(input);
  std::uint64_t members = 0;
  while (const auto member = archive.next()) {
    if (member->kind == TarMember::Kind::kFolder || member->kind == TarMember::Kind::kLink) continue;
    if (!budget_.take_file()) {
      close_books(out, id,
                  fmt::format("more than {} files: the other members were not read", budget_.limits().max_files));
      break;
    }
    ++members;
    auto file = member_file(id, member->name, out);
    file.modified_ns = member->modified_ns;
    file.bytes = member->size;
    if (member->kind == TarMember::Kind::kFile) {
      read_stream(std::move(file), archive.content(), depth, out);
      continue;
    }
    file.note = member->kind == TarMember::Kind::kSparse ? "a sparse member of a tar archive" : "not a regular file";
    const auto member_id = static_cast<model::FileId>(out.files.size());
    out.files.push_back(std::move(file));
    if (member->kind == TarMember::Kind::kSparse) {
      add_problem(out, member_id, "sparse members are not read: pack without --sparse");
    }
  }
  out.files[value(id)].counts["members"] = members;
  close_books(out, id, archive.trouble());
}

// A member is whose its own name says, else whose the archive is.
model::SourceFile Ingest::member_file(model::FileId archive, const std::string& name, model::Evidence& out) {
  const auto& outer = out.files[value(archive)];
  model::SourceFile file;
  file.name_rank = outer.name_rank;
  file.name_node = outer.name_node;
  file.name_attempt = outer.name_attempt;
  const std::string shown = base::printable(name);
  apply_hint(hint_of(shown), file, static_cast<model::FileId>(out.files.size()), out);
  file.path = outer.path + "!" + shown;
  return file;
}

namespace {

// Documents and source code quote error texts; none of them is evidence of this job.
constexpr std::string_view kDocumentEndings[] = {"md",  "markdown", "rst", "adoc", "html", "htm",   "tex",  "po",
                                                 "py",  "pyi",      "c",   "cc",   "cpp",  "cu",    "cuh",  "h",
                                                 "hpp", "js",       "ts",  "go",   "rs",   "ipynb", "diff", "patch"};
constexpr std::string_view kDocumentNames[] = {"changelog", "readme",  "license", "copying",
                                               "copyright", "authors", "news",    "contributing"};

bool is_document(std::string_view path) {
  std::string name = base::lower(path.substr(path.find_last_of("/!") + 1));
  for (const std::string_view packed : {".gz", ".xz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  const auto dot = name.rfind('.');
  const std::string_view ending =
      dot == std::string::npos ? std::string_view() : std::string_view(name).substr(dot + 1);
  const auto stem = std::string_view(name).substr(0, name.find('.'));
  return std::find(std::begin(kDocumentEndings), std::end(kDocumentEndings), ending) != std::end(kDocumentEndings) ||
         std::find(std::begin(kDocumentNames), std::end(kDocumentNames), stem) != std::end(kDocumentNames);
}

}  // namespace

void Ingest::read_format(model::FileId id, BoundedStream& input, model::Evidence& out) {
  const auto head = input.head();
  auto& file = out.files[value(id)];
  const formats::Reader* best = nullptr;
  int confidence = 0;
  if (is_document(file.path)) {
    file.note = "a document or source code: error texts in it are quotations";
    file.passed_over = true;
    return close_books(out, id, input.trouble());
  }
  for (const auto& reader : readers_) {
    if (confidence >= formats::kCertain) break;
    const int c = head.empty() ? 0 : reader->probe(file, head);
    if (c > confidence) best = reader.get(), confidence = c;
  }
  if (!best) {
    file.note = head.empty() ? "empty" : describe_unknown(head);
    if (head.empty()) file.bytes = 0, file.passed_over = true;
    return close_books(out, id, input.trouble());
  }
  file.format = best->name();
  file.status = FileStatus::kRead;
  best->read(input, {id, &file}, out);
  auto& after = out.files[value(id)];  // a reader may have added files
  after.bytes = input.bytes();
  close_books(out, id, input.trouble());
}

}  // namespace holter::evidence
