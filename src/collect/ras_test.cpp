// SPDX-License-Identifier: Apache-2.0
// The other side is a double of NCCL's RAS thread: it speaks the lines of the protocol and nothing more.
#include "collect/ras.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "base/fd.h"

namespace holter::collect {
namespace {

using std::chrono::milliseconds;

class Server {
 public:
  // `serve` gets one connection.
  explicit Server(std::function<void(int)> serve) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) std::abort();
    ::listen(listener_.get(), 1);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this, serve = std::move(serve)] {
      const base::Fd connection(::accept(listener_.get(), nullptr, nullptr));
      if (connection) serve(connection.get());
    });
  }
  ~Server() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  const std::string& address() const { return address_; }

 private:
  base::Fd listener_;
  std::string address_;
  std::thread thread_;
};

std::string read_line(int fd) {
  std::string out;
  char c = 0;
  while (::read(fd, &c, 1) == 1 && c != '\n') out += c;
  return out;
}
void say(int fd, std::string_view text) { (void)!::send(fd, text.data(), text.size(), MSG_NOSIGNAL); }

void speak(int fd, std::string_view body) {
  if (read_line(fd) != "client protocol 2") return;
  say(fd, "SERVER PROTOCOL 2\n");
  if (!read_line(fd).starts_with("timeout ")) return;
  say(fd, "OK\n");
  if (read_line(fd) == "verbose status") say(fd, body);
}

TEST(Ras, the_reply_is_everything_up_to_the_end_of_the_connection) {
  const std::string body = "NCCL version 2.28.9\nJob summary\n" + std::string(200'000, 'x') + "\n";
  const Server server([&](int fd) { speak(fd, body); });
  const auto reply = ask_ras(server.address(), milliseconds(5000), 1 << 20);
  ASSERT_TRUE(reply.has_value()) << reply.error().to_string();
  EXPECT_EQ(*reply, body);
}

TEST(Ras, nobody_there_and_nobody_answering_are_told_apart) {
  std::string gone;
  {
    gone = Server([](int) {}).address();
  }
  const auto refused = ask_ras(gone, milliseconds(1000), 1000);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), base::Code::kNotFound);

  const Server silent([](int fd) { read_line(fd), read_line(fd); });
  const auto start = std::chrono::steady_clock::now();
  const auto late = ask_ras(silent.address(), milliseconds(300), 1000);
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code(), base::Code::kUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(3000));
}

TEST(Ras, another_service_on_the_port_is_no_reply) {
  const Server other([](int fd) { say(fd, "SSH-2.0-OpenSSH_9.2\n"); });
  EXPECT_FALSE(ask_ras(other.address(), milliseconds(1000), 1000).has_value());
}

TEST(Ras, an_endless_reply_is_cut) {
  const Server flood([](int fd) {
    speak(fd, "");
    const std::string block(65536, 'y');
    for (int i = 0; i < 200; ++i) say(fd, block);
  });
  const auto reply = ask_ras(flood.address(), milliseconds(3000), 1'000'000);
  ASSERT_TRUE(reply.has_value());
  EXPECT_LT(reply->size(), 1'100'000U);
}

}  // namespace
}  // namespace holter::collect
