// SPDX-License-Identifier: Apache-2.0
#include "platform/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

extern char** environ;

namespace holter::platform {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kGrace{500};

struct Pipe {
  base::Fd read, write;
  bool open() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    read = base::Fd(fds[0]);
    write = base::Fd(fds[1]);
    return true;
  }
};

class Settings {
 public:
  Settings() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t set;
    ::sigemptyset(&set);
    ::posix_spawnattr_setsigmask(&attributes_, &set);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM}) ::sigaddset(&set, signal);
    ::posix_spawnattr_setsigdefault(&attributes_, &set);
  }
  ~Settings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  void redirect(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void no_input() { ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0); }
  int spawn(pid_t& pid, const std::vector<std::string>& argv) {
    std::vector<char*> words;
    for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    return ::posix_spawnp(&pid, words[0], &actions_, &attributes_, words.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

void set_nonblocking(const base::Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

}  // namespace

int spawn_with_pipes(const std::vector<std::string>& argv, bool with_input, Child& child) {
  Pipe in, out, err;
  if (argv.empty()) return EINVAL;
  if ((with_input && !in.open()) || !out.open() || !err.open()) return errno;
  Settings settings;
  if (with_input) settings.redirect(in.read.get(), STDIN_FILENO);
  else settings.no_input();
  settings.redirect(out.write.get(), STDOUT_FILENO);
  settings.redirect(err.write.get(), STDERR_FILENO);
  pid_t pid = -1;
  if (const int error = settings.spawn(pid, argv); error != 0) return error;
  child = {pid, std::move(in.write), std::move(out.read), std::move(err.read)};
  for (const auto* fd : {&child.input, &child.output, &child.error}) {
    if (*fd) set_nonblocking(*fd);
  }
  return 0;
}

bool reap(pid_t pid, Clock::time_point deadline, int& status) {
  while (true) {
    const auto done = ::waitpid(pid, &status, WNOHANG);
    if (done == pid || (done < 0 && errno != EINTR)) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
}

bool kill_group(pid_t pid) {
  int status = 0;
  ::kill(-pid, SIGKILL);
  return reap(pid, Clock::now() + kGrace, status);
}

}  // namespace holter::platform
