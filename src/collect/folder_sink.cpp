// SPDX-License-Identifier: Apache-2.0
#include "collect/folder_sink.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"

namespace holter::collect {

namespace {

auto failed(const std::string& path) {
  return base::fail(errno == EACCES ? base::Code::kPermission : base::Code::kInvalid,
                    path + ": " + std::strerror(errno));
}

bool write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const auto done = ::write(fd, data.data(), data.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    data.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

}  // namespace

base::Result<bool> make_folder(const std::string& path) {
  for (std::size_t at = 1; at <= path.size(); ++at) {
    if (at < path.size() && path[at] != '/') continue;
    const auto part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) == 0 || errno == EEXIST) continue;
    struct stat info{};
    const int error = errno;
    if (::stat(part.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    errno = error;
    return failed(part);
  }
  return true;
}

base::Result<bool> FolderSink::add(const std::string& name, std::string_view data, base::UnixNs modified) {
  const auto path = folder_ + "/" + name;
  if (auto made = make_folder(path.substr(0, path.rfind('/'))); !made) return made;
  const base::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd || !write_all(fd.get(), data)) return failed(path);
  const timespec time{modified / 1'000'000'000, modified % 1'000'000'000};
  const timespec times[2] = {time, time};
  ::futimens(fd.get(), times);
  return true;
}

}  // namespace holter::collect
