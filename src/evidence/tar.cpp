// SPDX-License-Identifier: Apache-2.0
#include "evidence/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/strings.h"

namespace holter::evidence {

namespace {

constexpr std::size_t kBlock = 512;
constexpr std::uint64_t kMaxExtension = 1 << 20;  // bytes of one pax or long-name header
constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 62;

// Fields of a header: offset and length.
struct Field {
  std::size_t at, length;
};
constexpr Field kName{0, 100}, kSize{124, 12}, kTime{136, 12}, kChecksum{148, 8}, kType{156, 1}, kMagic{257, 6},
    kPrefix{345, 155};

std::string_view raw(std::string_view block, Field f) { return block.substr(f.at, f.length); }

std::string_view text(std::string_view block, Field f) {
  const auto field = raw(block, f);
  return field.substr(0, field.find('\0'));
}

// Octal text, or base-256 when the top bit of the first byte is set. Nothing when it is neither, is
// negative or absurdly large.
std::optional<std::uint64_t> number(std::string_view field) {
  const auto first = static_cast<unsigned char>(field[0]);
  if (first & 0x80) {
    std::uint64_t value = first & 0x7F;
    if (first & 0x40) return std::nullopt;  // negative
    for (const char c : field.substr(1)) {
      if (value > kMaxSize >> 8) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return value;
  }
  field = field.substr(0, field.find('\0'));
  field = base::trim(field);
  if (field.empty()) return 0;
  const auto value = base::to_int<std::uint64_t>(field, 8);
  return value && *value <= kMaxSize ? value : std::nullopt;
}

bool checksum_fits(std::string_view block) {
  const auto stated = number(raw(block, kChecksum));
  if (!stated) return false;
  std::uint64_t as_unsigned = 0;
  std::int64_t as_signed = 0;  // some old writers summed signed chars
  for (std::size_t i = 0; i < kBlock; ++i) {
    const bool in_checksum = i >= kChecksum.at && i < kChecksum.at + kChecksum.length;
    as_unsigned += in_checksum ? ' ' : static_cast<unsigned char>(block[i]);
    as_signed += in_checksum ? ' ' : static_cast<signed char>(block[i]);
  }
  return *stated == as_unsigned || static_cast<std::int64_t>(*stated) == as_signed;
}

bool all_zero(std::string_view block) { return block.find_first_not_of('\0') == std::string_view::npos; }

std::uint64_t padding_of(std::uint64_t size) { return (kBlock - size % kBlock) % kBlock; }

TarMember::Kind kind_of(char type, std::string_view name) {
  switch (type) {
    case '0':
    case '\0':
    case '7': return name.ends_with('/') ? TarMember::Kind::kFolder : TarMember::Kind::kFile;
    case '1':
    case '2': return TarMember::Kind::kLink;
    case '5':
    case 'D': return TarMember::Kind::kFolder;
    case 'S': return TarMember::Kind::kSparse;
    default: return TarMember::Kind::kSpecial;
  }
}

// Links carry a size in some archives, but no content; devices and folders of old writers likewise.
bool has_content(char type, TarMember::Kind kind) {
  const bool device = type == '3' || type == '4' || type == '6';
  return kind != TarMember::Kind::kLink && kind != TarMember::Kind::kFolder && !device;
}

}  // namespace

bool is_tar_header(std::string_view block) {
  return block.size() >= kBlock && block[0] != '\0' && checksum_fits(block.substr(0, kBlock));
}

std::string_view TarReader::take(std::uint64_t& left) {
  if (left == 0 || !trouble_.empty()) return {};
  if (chunk_.empty()) chunk_ = inner_.next();
  if (chunk_.empty()) {
    damaged(inner_.truncated() ? std::string(inner_.trouble()) : "the archive ends early (truncated file)");
    return {};
  }
  const auto out = chunk_.substr(0, std::min<std::uint64_t>(left, chunk_.size()));
  chunk_.remove_prefix(out.size());
  offset_ += out.size();
  left -= out.size();
  return out;
}

void TarReader::skip(std::uint64_t& left) {
  while (left > 0 && !take(left).empty()) {}
}

void TarReader::damaged(std::string what) {
  if (trouble_.empty()) trouble_ = std::move(what);
  ended_ = true;
}

// False at the end of the data; a part of a block is damage.
bool TarReader::read_block(std::string& block) {
  block.clear();
  if (chunk_.empty()) chunk_ = inner_.next();
  if (chunk_.empty()) {  // archives without the final zero blocks are common and complete
    if (inner_.truncated()) damaged(std::string(inner_.trouble()));
    ended_ = true;
    return false;
  }
  std::uint64_t left = kBlock;
  while (left > 0) {
    const auto part = take(left);
    if (part.empty()) return false;
    block += part;
  }
  return true;
}

std::optional<std::string> TarReader::read_extension(std::uint64_t size) {
  if (size > kMaxExtension) {
    damaged(fmt::format("a tar extension header of {} bytes at offset {} is too long", size, offset_));
    return std::nullopt;
  }
  std::string out;
  std::uint64_t left = size;
  while (left > 0) {
    const auto part = take(left);
    if (part.empty()) return std::nullopt;
    out += part;
  }
  left = padding_of(size);
  skip(left);
  return out;
}

// Records "LENGTH KEY=VALUE\n"; a damaged one ends the list.
void TarReader::apply_pax(std::string_view records, Overrides& to) {
  while (!records.empty()) {
    const auto blank = records.find(' ');
    const auto length = base::to_int<std::size_t>(records.substr(0, blank));
    if (!length || blank == std::string_view::npos || *length <= blank + 1 || *length > records.size()) return;
    auto record = records.substr(blank + 1, *length - blank - 1);
    records.remove_prefix(*length);
    if (record.ends_with('\n')) record.remove_suffix(1);
    const auto equals = record.find('=');
    if (equals == std::string_view::npos) continue;
    const auto key = record.substr(0, equals);
    const auto value = record.substr(equals + 1);
    if (key == "path") {
      to.name = std::string(value);
    } else if (key == "size") {
      if (const auto size = base::to_int<std::uint64_t>(value); size && *size <= kMaxSize) to.size = size;
    } else if (key == "mtime") {
      const auto seconds = base::to_double(value);
      if (seconds && *seconds > 0 && *seconds < 9e9) to.modified_ns = static_cast<std::int64_t>(*seconds * 1e9);
    } else if (key.starts_with("GNU.sparse.")) {
      to.sparse = true;
    }
  }
}

// True when the header was an extension of the next one and has been read.
bool TarReader::apply_extension(char type, std::uint64_t size) {
  if (type != 'x' && type != 'g' && type != 'L' && type != 'K') return false;
  const auto content = read_extension(size);
  if (!content) return true;
  if (type == 'x') apply_pax(*content, overrides_);
  if (type == 'g') apply_pax(*content, global_);
  if (type == 'L') overrides_.name = content->substr(0, content->find('\0'));
  return true;
}

TarMember TarReader::member(const std::string& block, char type, std::uint64_t size) {
  TarMember out;
  out.name = std::string(text(block, kName));
  const bool posix = raw(block, kMagic) == std::string_view("ustar\0", 6);
  if (const auto prefix = text(block, kPrefix); posix && !prefix.empty()) {
    out.name = std::string(prefix) + '/' + out.name;
  }
  out.kind = kind_of(type, out.name);
  out.size = size;
  if (const auto time = number(raw(block, kTime)); time && *time < 9'000'000'000) {
    out.modified_ns = static_cast<std::int64_t>(*time) * 1'000'000'000;
  }
  if (overrides_.name) out.name = *overrides_.name;
  if (overrides_.modified_ns) out.modified_ns = *overrides_.modified_ns;
  if (overrides_.sparse || global_.sparse) out.kind = TarMember::Kind::kSparse;
  if (has_content(type, out.kind) && overrides_.size) out.size = *overrides_.size;
  return out;
}

// The map of an old GNU sparse member goes on in blocks between header and content.
void TarReader::skip_sparse_maps(std::string block) {
  constexpr std::size_t kExtendedInHeader = 482, kExtendedInMap = 504;
  for (auto flag = kExtendedInHeader; block[flag] != '\0'; flag = kExtendedInMap) {
    if (!read_block(block)) return;
  }
}

std::optional<TarMember> TarReader::next() {
  skip(content_left_);
  skip(padding_);
  std::string block;
  while (!ended_ && read_block(block)) {
    if (all_zero(block)) {  // one zero block is enough: many writers leave a single one
      ended_ = true;
      break;
    }
    const auto size = number(raw(block, kSize));
    if (!checksum_fits(block) || !size) {
      damaged(fmt::format("damaged tar header at offset {}", offset_ - kBlock));
      break;
    }
    const char type = block[kType.at];
    if (apply_extension(type, *size)) continue;
    TarMember out = member(block, type, *size);
    overrides_ = {};
    if (type == 'S') skip_sparse_maps(block);
    content_left_ = has_content(type, out.kind) ? out.size : 0;
    padding_ = padding_of(content_left_);
    return out;
  }
  return std::nullopt;
}

}  // namespace holter::evidence
