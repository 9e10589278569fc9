// SPDX-License-Identifier: Apache-2.0
#include "collect/remote.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/strings.h"
#include "collect/sink.h"
#include "platform/spawn.h"

namespace holter::collect {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMaxError = 4096;
constexpr milliseconds kTick{200};

// One host while it is asked.
class Session {
 public:
  Session(std::size_t index, const Target& target, const RemoteOptions& options)
      : index_(index), options_(options), start_(Clock::now()), deadline_(start_ + options.deadline) {
    outcome_.host = target.host;
    part_ = fmt::format("{}/{}.partial.tar.zst", options.folder, safe_name(target.host));
    auto arguments = options.arguments;
    if (index > 0) arguments.insert(arguments.end(), options.other_arguments.begin(), options.other_arguments.end());
    file_ = base::Fd(::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file_) {
      fail(Status::kFailed, part_ + ": " + std::strerror(errno));
      return;
    }
    const auto argv = remote_command(target, remote_script(arguments));
    const int error = platform::spawn_with_pipes(argv, true, child_);
    if (error != 0) fail(Status::kFailed, argv[0] + ": " + std::strerror(error));
  }

  std::size_t index() const { return index_; }
  bool done() const { return done_; }
  HostOutcome& outcome() { return outcome_; }
  void add_fds(std::vector<pollfd>& fds) const {
    if (child_.input) fds.push_back({child_.input.get(), POLLOUT, 0});
    if (child_.output) fds.push_back({child_.output.get(), POLLIN, 0});
    if (child_.error) fds.push_back({child_.error.get(), POLLIN, 0});
  }
  // After poll(): moves what can be moved.
  void step() {
    if (done_) return;
    feed();
    take_output();
    take_error();
    if (!done_ && !child_.output && !child_.error) finish();
    if (!done_ && Clock::now() >= deadline_) expire();
  }
  void stop() {
    if (!done_) fail(Status::kSkipped, "interrupted");
  }

 private:
  void feed() {
    while (child_.input) {
      if (fed_ == options_.program.size()) return child_.input.reset();
      const auto sent = ::write(child_.input.get(), options_.program.data() + fed_, options_.program.size() - fed_);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return;
      if (sent < 0) return child_.input.reset();  // it went away: its status says why
      fed_ += static_cast<std::size_t>(sent);
    }
  }
  // Bytes read; 0: nothing now, -1: the end.
  static ssize_t read_some(base::Fd& fd, std::array<char, 65536>& buffer) {
    if (!fd) return 0;
    const auto got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (got > 0) return got;
    fd.reset();
    return -1;
  }
  void take_output() {
    std::array<char, 65536> buffer;
    for (ssize_t got; (got = read_some(child_.output, buffer)) > 0;) {
      outcome_.bytes += static_cast<std::uint64_t>(got);
      if (outcome_.bytes > options_.max_bytes) return fail(Status::kCut, "more than the limit of one host");
      if (::write(file_.get(), buffer.data(), static_cast<std::size_t>(got)) != got)
        return fail(Status::kFailed, part_ + ": " + std::strerror(errno));
    }
  }
  void take_error() {
    std::array<char, 65536> buffer;
    for (ssize_t got; (got = read_some(child_.error, buffer)) > 0;)
      error_.append(buffer.data(),
                    std::min(static_cast<std::size_t>(got), kMaxError - std::min(kMaxError, error_.size())));
  }
  std::string last_words() const {
    auto text = base::trim(error_);
    text = text.substr(text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1);
    return base::ellipsize(base::printable(text), 200);
  }
  void expire() {
    fail(Status::kTimeout, outcome_.bytes > 0 ? "its time was up; what had come is kept"
                           : fed_ == 0        ? "no answer"
                                              : "connected, and nothing came");
  }
  void fail(Status status, std::string detail) {
    if (child_.pid > 0) platform::kill_group(child_.pid);
    if (const auto said = last_words(); !said.empty() && status != Status::kSkipped) detail += " (" + said + ")";
    end(status, std::move(detail));
  }
  void finish() {
    int status = 0;
    const auto reaped = ::waitpid(child_.pid, &status, WNOHANG);
    if (reaped == 0) return;
    child_.pid = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && outcome_.bytes > 0) return end(Status::kTaken, "");
    const auto said = last_words();
    const bool refused = said.find("ermission denied") != std::string::npos;
    end(refused ? Status::kRefused : Status::kFailed,
        said.empty()
            ? fmt::format("ended with status {}", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status))
            : said);
  }
  void end(Status status, std::string detail) {
    done_ = true;
    child_ = {};
    file_.reset();
    outcome_.status = status;
    outcome_.detail = std::move(detail);
    outcome_.took_ms = std::chrono::duration_cast<milliseconds>(Clock::now() - start_).count();
    const auto name = safe_name(outcome_.host);
    if (outcome_.bytes == 0) {
      ::unlink(part_.c_str());
    } else if (status == Status::kTaken) {
      outcome_.file = name + ".tar.zst";
      ::rename(part_.c_str(), (options_.folder + "/" + outcome_.file).c_str());
    } else {
      outcome_.file = name + ".partial.tar.zst";
    }
  }

  std::size_t index_;
  const RemoteOptions& options_;
  Clock::time_point start_, deadline_;
  platform::Child child_;
  base::Fd file_;
  std::string part_, error_;
  std::size_t fed_ = 0;
  HostOutcome outcome_;
  bool done_ = false;
};

// A host that goes away while it is fed must not end us.
class IgnorePipes {
 public:
  IgnorePipes() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before_);
  }
  ~IgnorePipes() { ::sigaction(SIGPIPE, &before_, nullptr); }
  IgnorePipes(const IgnorePipes&) = delete;
  IgnorePipes& operator=(const IgnorePipes&) = delete;

 private:
  struct sigaction before_{};
};

bool is_there(const RemoteOptions& options, HostOutcome& outcome) {
  const auto file = safe_name(outcome.host) + ".tar.zst";
  struct stat info{};
  if (::stat((options.folder + "/" + file).c_str(), &info) != 0 || info.st_size == 0) return false;
  outcome.file = file;
  outcome.bytes = static_cast<std::uint64_t>(info.st_size);
  outcome.detail = "collected before";
  return true;
}

}  // namespace

std::vector<HostOutcome> collect_remote(const std::vector<Target>& targets, const RemoteOptions& options) {
  const IgnorePipes ignored;
  std::vector<HostOutcome> out(targets.size());
  std::vector<std::unique_ptr<Session>> running;
  std::size_t next = 0, done = 0;
  const auto tell = [&](std::size_t i) {
    if (options.progress) options.progress(out[i], ++done, targets.size());
  };
  while (next < targets.size() || !running.empty()) {
    const bool stop = options.stop && options.stop();
    for (; next < targets.size() && running.size() < options.parallel; ++next) {
      out[next].host = targets[next].host;
      if (is_there(options, out[next])) {
        tell(next);
      } else if (stop) {
        out[next].status = Status::kSkipped;
        out[next].detail = "interrupted";
        tell(next);
      } else {
        running.push_back(std::make_unique<Session>(next, targets[next], options));
      }
    }
    std::vector<pollfd> fds;
    for (const auto& session : running) session->add_fds(fds);
    // Without descriptors a child is only waited for.
    ::poll(fds.data(), fds.size(), static_cast<int>(fds.empty() ? 10 : kTick.count()));
    for (auto& session : running) {
      if (stop) session->stop();
      session->step();
      if (!session->done()) continue;
      out[session->index()] = std::move(session->outcome());
      tell(session->index());
    }
    std::erase_if(running, [](const auto& session) { return session->done(); });
  }
  return out;
}

}  // namespace holter::collect
