// SPDX-License-Identifier: Apache-2.0
#include "user_rules.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/log.h"
#include "formats/rules/rules.h"

namespace holter::app {

namespace fs = std::filesystem;
using base::Code;

namespace {

constexpr std::uintmax_t kMaxRuleFile = std::uintmax_t{16} << 20;

base::Result<std::string> read_text(const fs::path& path) {
  std::error_code error;
  if (fs::file_size(path, error) > kMaxRuleFile || error) {
    return base::fail(Code::kLimit, path.string() + ": too large or not readable");
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  if (!in) return base::fail(Code::kPermission, path.string() + ": cannot be read");
  return out.str();
}

}  // namespace

base::Result<model::Rules> load_rules(const std::string& folder) {
  if (folder.empty()) return formats::rules::builtin();
  std::error_code error;
  if (!fs::is_directory(folder, error)) return base::fail(Code::kNotFound, folder + " is not a folder");
  auto files = formats::rules::builtin_files();
  int found = 0;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const auto kind = at->path().extension();
    if (!at->is_regular_file() || (kind != ".toml" && kind != ".csv")) continue;
    HOLTER_TRY(auto text, read_text(at->path()));
    const std::string name = fs::relative(at->path(), folder).generic_string();
    base::log::info("rules: {} {}", name, files.contains(name) ? "replaces the built-in file" : "is added");
    files[name] = std::move(text);
    ++found;
  }
  if (error) return base::fail(Code::kPermission, folder + ": " + error.message());
  if (found == 0) return base::fail(Code::kNotFound, folder + " holds no .toml or .csv file");
  return formats::rules::parse(files);
}

}  // namespace holter::app
