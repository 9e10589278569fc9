// SPDX-License-Identifier: Apache-2.0
#include "evidence/read.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "evidence/readers.h"

namespace holter::evidence {

namespace fs = std::filesystem;

namespace {

std::vector<std::pair<std::string, std::string>> find_files(const std::vector<std::string>& paths) {
  std::vector<std::pair<std::string, std::string>> found;  // path, shown
  for (const auto& path : paths) {
    if (!fs::is_directory(path)) {
      found.emplace_back(path, fs::path(path).filename().string());
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) found.emplace_back(entry.path(), fs::relative(entry.path(), path).string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

base::Result<model::Evidence> read(const std::vector<std::string>& paths, const model::Rules& rules, const Options&) {
  model::Evidence out;
  const auto readers = make_readers(rules);
  for (const auto& [path, shown] : find_files(paths)) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    const std::string data = text.str();
    const auto id = static_cast<model::FileId>(out.files.size());
    out.files.push_back({.path = shown, .format = "", .version = "", .bytes = data.size()});
    const formats::Reader* best = nullptr;
    int confidence = 0;
    for (const auto& reader : readers) {
      const int c = reader->probe(out.files.back(), std::string_view(data).substr(0, 64 * 1024));
      if (c > confidence) best = reader.get(), confidence = c;
    }
    if (!best) continue;
    out.files.back().format = best->name();
    out.files.back().status = model::FileStatus::kRead;
    formats::MemorySource source(data);
    best->read(source, {id, &out.files.back()}, out);
  }
  return out;
}

}  // namespace holter::evidence
