// SPDX-License-Identifier: Apache-2.0
#include "evidence/discover.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

#include "base/strings.h"

namespace holter::evidence {

namespace {

constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
constexpr std::size_t kMaxNames = 2'000'000;  // of one folder
constexpr int kOpenFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::int64_t modified(const struct stat& st) { return st.st_mtim.tv_sec * 1'000'000'000 + st.st_mtim.tv_nsec; }

const char* kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "not a regular file";
}

// File systems whose "files" are views of the kernel: reading one may wait for ever or do something.
bool is_pseudo_file_system(int fd) {
  struct statfs fs{};
  if (::fstatfs(fd, &fs) != 0) return false;
  switch (static_cast<unsigned long>(fs.f_type)) {
    case 0x9fa0:      // proc
    case 0x62656572:  // sysfs
    case 0x64626720:  // debugfs
    case 0x74726163:  // tracefs
    case 0x63677270:  // cgroup2
    case 0x27e0eb:    // cgroup
    case 0x73636673:  // securityfs
    case 0xcafe4a11:  // bpf
    case 0x1cd1:      // devpts
      return true;
    default: return false;
  }
}

std::string file_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.find_last_of('/') + 1));
}

// How the files of each path are shown: below the folder that all paths have in common.
std::string common_parent(const std::vector<std::string>& paths) {
  std::string common;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::string_view path = paths[i];
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    const auto slash = path.find_last_of('/');
    const std::string parent(slash == std::string_view::npos ? "" : path.substr(0, slash + 1));
    if (i == 0) common = parent;
    while (!parent.starts_with(common)) {
      const auto cut = common.substr(0, common.size() - 1).find_last_of('/');
      common.resize(cut == std::string::npos ? 0 : cut + 1);
    }
  }
  return common;
}

class Walker {
 public:
  Walker(Discovery& out, const Limits& limits) : out_(out), limits_(limits) {}

  void add_root(const std::string& path, const std::string& shown) {
    out_.roots.push_back({path, {}, {}});
    if (path == "-") return add_pipe("<stdin>");
    struct stat st{};
    if (::stat(path.c_str(), &st) != 0) {
      return trouble(shown, fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    if (S_ISDIR(st.st_mode)) return add_folder_root(path, shown);
    Input input{.root = out_.roots.size() - 1,
                .relative = "",
                .shown = shown,
                .bytes = static_cast<std::uint64_t>(st.st_size),
                .modified_ns = modified(st),
                .unread = ""};
    // A pipe of the shell, "<(zcat x)", is meant to be read; a named pipe may never have a writer.
    input.pipe = S_ISFIFO(st.st_mode) && (path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/"));
    if (!S_ISREG(st.st_mode) && !input.pipe) input.unread = kind_of(st.st_mode);
    if (S_ISREG(st.st_mode) && !files_.emplace(st.st_dev, st.st_ino).second) return;  // given twice
    out_.inputs.push_back(std::move(input));
  }

 private:
  using FileKey = std::pair<dev_t, ino_t>;
  struct Folder {
    int fd;
    dev_t device;
    std::string relative;  // "" or ends with '/'
    std::string shown;     // "" or ends with '/'
    int depth;
  };

  void trouble(const std::string& shown, std::string what) { out_.troubles.push_back({shown, std::move(what)}); }

  void add_pipe(const std::string& shown) {
    out_.inputs.push_back({.root = out_.roots.size() - 1, .relative = "", .shown = shown, .unread = "", .pipe = true});
  }

  void add_folder_root(const std::string& path, const std::string& shown) {
    base::Fd fd(::open(path.c_str(), kOpenFolder & ~O_NOFOLLOW));
    struct stat st{};
    if (!fd || ::fstat(fd.get(), &st) != 0) {
      return trouble(shown, fmt::format("the folder cannot be opened: {}", std::strerror(errno)));
    }
    Root& root = out_.roots.back();
    char resolved[PATH_MAX];
    if (::realpath(path.c_str(), resolved)) root.name = base::printable(file_name(resolved));
    if (!folders_.emplace(st.st_dev, st.st_ino).second) return;
    if (is_pseudo_file_system(fd.get())) {
      return trouble(shown, "a live view of the kernel: copy the files that matter and give the copies");
    }
    // dup, because closedir() closes what it was given.
    walk({fd.get(), st.st_dev, "", shown.empty() ? "" : shown + "/", 0});
    root.folder = std::move(fd);
  }

  // Names of a folder in order, so that a limit always cuts at the same place.
  bool list(int fd, std::vector<std::string>& names) {
    DIR* dir = ::fdopendir(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!dir) return false;
    const std::unique_ptr<DIR, int (*)(DIR*)> closer(dir, ::closedir);
    while (const dirent* entry = ::readdir(dir)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      names.emplace_back(name);
      if (names.size() >= kMaxNames) break;
    }
    std::sort(names.begin(), names.end(), natural_less);
    return true;
  }

  void walk(const Folder& folder) {
    std::vector<std::string> names;
    if (!list(folder.fd, names)) {
      return trouble(folder.shown, fmt::format("the folder cannot be listed: {}", std::strerror(errno)));
    }
    for (const auto& name : names) {
      if (out_.inputs.size() >= limits_.max_files) {
        if (!full_) trouble("", fmt::format("more than {} files: the others were not looked at", limits_.max_files));
        full_ = true;
        return;
      }
      add_entry(folder, name);
    }
  }

  void add_entry(const Folder& folder, const std::string& name) {
    const std::string shown = folder.shown + base::printable(name);
    struct stat st{};
    if (::fstatat(folder.fd, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
      return trouble(shown, fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    if (S_ISDIR(st.st_mode)) return add_folder(folder, name, shown, st);
    Input input{.root = out_.roots.size() - 1,
                .relative = folder.relative + name,
                .shown = shown,
                .bytes = static_cast<std::uint64_t>(st.st_size),
                .modified_ns = modified(st),
                .unread = ""};
    if (S_ISLNK(st.st_mode)) {
      input.unread = "a symbolic link: give what it leads to, if it matters";
      input.bytes = 0;
    } else if (!S_ISREG(st.st_mode)) {
      input.unread = kind_of(st.st_mode);
    } else if (!files_.emplace(st.st_dev, st.st_ino).second) {
      return;  // given twice, or a hard link of a file already listed
    }
    out_.inputs.push_back(std::move(input));
  }

  void add_folder(const Folder& parent, const std::string& name, const std::string& shown, const struct stat& st) {
    if (!folders_.emplace(st.st_dev, st.st_ino).second) return;
    if (parent.depth >= limits_.max_folder_depth) {
      return trouble(shown, fmt::format("deeper than {} folders: not looked at", limits_.max_folder_depth));
    }
    const base::Fd fd(::openat(parent.fd, name.c_str(), kOpenFolder));
    if (!fd) return trouble(shown, fmt::format("the folder cannot be opened: {}", std::strerror(errno)));
    if (st.st_dev != parent.device && is_pseudo_file_system(fd.get())) {
      return trouble(shown, "a live view of the kernel: not looked at");
    }
    walk({fd.get(), st.st_dev, parent.relative + name + "/", shown + "/", parent.depth + 1});
  }

  Discovery& out_;
  const Limits limits_;
  std::set<FileKey> files_;
  std::set<FileKey> folders_;
  bool full_ = false;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Length of the run of digits at `at`, without leading zeros in `value`.
std::string_view digits(std::string_view text, std::size_t at, std::size_t& length) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  length = end - at;
  auto value = text.substr(at, length);
  while (value.size() > 1 && value[0] == '0') value.remove_prefix(1);
  return value;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    if (is_digit(a[i]) && is_digit(b[k])) {
      std::size_t length_a = 0, length_b = 0;
      const auto x = digits(a, i, length_a), y = digits(b, k, length_b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      i += length_a;
      k += length_b;
    } else {
      if (a[i] != b[k]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[k]);
      ++i;
      ++k;
    }
  }
  if (a.size() - i != b.size() - k) return a.size() - i < b.size() - k;
  return a < b;  // differ in leading zeros only
}

Discovery discover(const std::vector<std::string>& paths, const Limits& limits) {
  Discovery out;
  Walker walker(out, limits);
  const auto common = common_parent(paths);
  for (const auto& path : paths) {
    struct stat st{};
    const bool lone_folder = paths.size() == 1 && ::stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
    std::string shown = path.substr(std::min(common.size(), path.size()));
    while (shown.ends_with('/')) shown.pop_back();
    walker.add_root(path, lone_folder ? "" : base::printable(shown.empty() ? path : shown));
  }
  std::stable_sort(out.inputs.begin(), out.inputs.end(),
                   [](const Input& a, const Input& b) { return natural_less(a.shown, b.shown); });
  return out;
}

int Opener::folder_of(const Input& input, std::string& name) {
  const auto slash = input.relative.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "" : input.relative.substr(0, slash);
  name = input.relative.substr(slash == std::string::npos ? 0 : slash + 1);
  if (folder.empty()) return found_.roots[input.root].folder.get();
  if (fd_ && root_ == input.root && folder_ == folder) return fd_.get();
  // One component at a time, so that no link anywhere on the way is followed.
  base::Fd at;
  for (const auto part : base::split(folder, '/')) {
    const int from = at ? at.get() : found_.roots[input.root].folder.get();
    base::Fd next(::openat(from, std::string(part).c_str(), kOpenFolder));
    if (!next) return -1;
    at = std::move(next);
  }
  fd_ = std::move(at);
  root_ = input.root;
  folder_ = folder;
  return fd_.get();
}

base::Fd Opener::open(const Input& input, std::uint64_t& bytes, std::string& why) {
  const auto& root = found_.roots[input.root];
  base::Fd fd;
  if (root.path == "-") {
    fd = base::Fd(::fcntl(0, F_DUPFD_CLOEXEC, 0));
  } else if (input.relative.empty()) {
    const int flags = input.pipe ? O_RDONLY | O_CLOEXEC : kOpenFile & ~O_NOFOLLOW;
    fd = base::Fd(::open(root.path.c_str(), flags));
  } else {
    std::string name;
    const int folder = folder_of(input, name);
    if (folder >= 0) fd = base::Fd(::openat(folder, name.c_str(), kOpenFile));
  }
  struct stat st{};
  if (!fd || ::fstat(fd.get(), &st) != 0) {
    why = fmt::format("cannot be opened: {}", std::strerror(errno));
    return {};
  }
  if (!input.pipe && !S_ISREG(st.st_mode)) {
    why = fmt::format("became {} after it was listed", kind_of(st.st_mode));
    return {};
  }
  // Views of the kernel state no size or a wrong one.
  const bool has_size = !input.pipe && !(input.relative.empty() && is_pseudo_file_system(fd.get()));
  bytes = has_size ? static_cast<std::uint64_t>(st.st_size) : 0;
  return fd;
}

}  // namespace holter::evidence
