// SPDX-License-Identifier: Apache-2.0
#include "platform/run_program.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/fd.h"
#include "platform/spawn.h"

namespace holter::platform {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMaxError = 4096;

// Reads both pipes until they end or the deadline comes.
class Drain {
 public:
  Drain(RunResult& result, const RunOptions& options, Clock::time_point deadline)
      : result_(result), options_(options), deadline_(deadline) {}

  // False at the deadline.
  bool run(base::Fd& out, base::Fd& err) {
    while (out || err) {
      const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()).count();
      if (left <= 0) return false;
      std::array<pollfd, 2> fds{{{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}}};
      if (::poll(fds.data(), fds.size(), static_cast<int>(left) + 1) < 0 && errno != EINTR) return false;
      if (fds[0].revents != 0) take(out, result_.output, options_.max_output, &result_.truncated);
      if (fds[1].revents != 0) take(err, result_.error, kMaxError, nullptr);
    }
    return true;
  }

 private:
  static void take(base::Fd& fd, std::string& into, std::size_t limit, bool* truncated) {
    std::array<char, 65536> buffer;
    const auto got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
      fd.reset();
      return;
    }
    const auto room = limit - std::min(limit, into.size());
    into.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
    if (truncated && static_cast<std::size_t>(got) > room) *truncated = true;
  }

  RunResult& result_;
  const RunOptions& options_;
  Clock::time_point deadline_;
};

}  // namespace

RunResult run_program(const std::vector<std::string>& argv, const RunOptions& options) {
  RunResult result;
  const auto start = Clock::now();
  const auto deadline = start + options.deadline;
  Child child;
  if (const int error = spawn_with_pipes(argv, false, child); error != 0) {
    result.end = error == ENOENT ? RunResult::End::kNotFound : RunResult::End::kFailed;
    result.code = error;
    return result;
  }
  int status = 0;
  const bool in_time =
      Drain(result, options, deadline).run(child.output, child.error) && reap(child.pid, deadline, status);
  if (!in_time) {
    result.end = RunResult::End::kTimedOut;
    result.abandoned = !kill_group(child.pid);
  } else if (WIFSIGNALED(status)) {
    result.end = RunResult::End::kSignalled;
    result.code = WTERMSIG(status);
  } else {
    result.end = RunResult::End::kExited;
    result.code = WEXITSTATUS(status);
  }
  result.took = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
  return result;
}

}  // namespace holter::platform
