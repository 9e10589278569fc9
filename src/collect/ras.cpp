// SPDX-License-Identifier: Apache-2.0
#include "collect/ras.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/fd.h"

namespace holter::collect {

namespace {

using Clock = std::chrono::steady_clock;

class Conversation {
 public:
  Conversation(base::Fd fd, Clock::time_point deadline, std::size_t limit)
      : fd_(std::move(fd)), deadline_(deadline), limit_(limit) {}

  bool say(std::string_view text) {
    while (!text.empty()) {
      if (!wait(POLLOUT)) return false;
      const auto sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Up to the end of a line; empty when none came.
  std::string line() {
    std::string out;
    while (true) {
      const auto end = buffer_.find('\n');
      if (end != std::string::npos) {
        out = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return out;
      }
      if (!more()) return "";
    }
  }
  // Everything up to the end of the connection; what has come when the deadline comes before.
  std::string rest(bool& complete) {
    while (more()) {}
    complete = closed_;
    return std::move(buffer_);
  }

 private:
  bool wait(short events) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    if (left <= 0) return false;
    pollfd p{fd_.get(), events, 0};
    return ::poll(&p, 1, static_cast<int>(left) + 1) > 0;
  }
  bool more() {
    if (closed_ || buffer_.size() >= limit_ || !wait(POLLIN)) return false;
    std::array<char, 65536> chunk;
    const auto got = ::recv(fd_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got <= 0) {
      closed_ = true;
      return false;
    }
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    return true;
  }

  base::Fd fd_;
  Clock::time_point deadline_;
  std::size_t limit_;
  std::string buffer_;
  bool closed_ = false;
};

base::Result<base::Fd> connect_to(const std::string& address, Clock::time_point deadline) {
  const auto colon = address.rfind(':');
  const auto host = colon == std::string::npos ? address : address.substr(0, colon);
  const auto port = colon == std::string::npos ? "28028" : address.substr(colon + 1);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0)
    return base::fail(base::Code::kNotFound, address + ": " + ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, ::freeaddrinfo);
  int last = ECONNREFUSED;
  for (const auto* a = found; a != nullptr; a = a->ai_next) {
    base::Fd fd(::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol));
    if (!fd) continue;
    if (::connect(fd.get(), a->ai_addr, a->ai_addrlen) == 0) return fd;
    if (errno != EINPROGRESS) {
      last = errno;
      continue;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd p{fd.get(), POLLOUT, 0};
    int error = ETIMEDOUT;
    socklen_t size = sizeof error;
    if (left > 0 && ::poll(&p, 1, static_cast<int>(left)) > 0)
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) return fd;
    last = error;
  }
  return base::fail(last == ETIMEDOUT ? base::Code::kUnavailable : base::Code::kNotFound,
                    address + ": " + std::strerror(last));
}

}  // namespace

base::Result<std::string> ask_ras(const std::string& address, std::chrono::milliseconds deadline,
                                  std::size_t max_bytes) {
  const auto until = Clock::now() + deadline;
  auto fd = connect_to(address, until);
  if (!fd) return tl::unexpected(fd.error());
  Conversation talk(std::move(*fd), until, max_bytes);
  const auto unanswered = [&] { return base::fail(base::Code::kUnavailable, address + ": no answer from NCCL RAS"); };
  if (!talk.say("client protocol 2\n") || talk.line().find("SERVER PROTOCOL") == std::string::npos) return unanswered();
  // The job's own limit for silent processes must end before ours.
  const auto seconds =
      std::max<std::int64_t>(1, std::chrono::duration_cast<std::chrono::seconds>(deadline).count() - 1);
  if (!talk.say(fmt::format("timeout {}\n", seconds)) || talk.line().empty()) return unanswered();
  bool complete = false;
  if (!talk.say("verbose status\n")) return unanswered();
  auto reply = talk.rest(complete);
  if (reply.empty()) return unanswered();
  return reply;
}

}  // namespace holter::collect
