// SPDX-License-Identifier: Apache-2.0
#include "collect/read_small.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/fd.h"
#include "base/strings.h"

namespace holter::collect {

std::optional<std::string> read_small(const std::string& path, std::size_t limit) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return std::nullopt;
  std::string out;
  std::array<char, 4096> buffer;
  while (out.size() < limit) {
    const auto got = ::read(fd.get(), buffer.data(), std::min(buffer.size(), limit - out.size()));
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return out;
}

std::vector<int> numbers_in(const std::string& folder) {
  std::vector<int> out;
  DIR* dir = ::opendir(folder.c_str());
  if (dir == nullptr) return out;
  while (const dirent* entry = ::readdir(dir)) {
    if (const auto n = base::to_int<int>(entry->d_name)) out.push_back(*n);
  }
  ::closedir(dir);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace holter::collect
