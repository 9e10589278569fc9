// SPDX-License-Identifier: Apache-2.0
#include "evidence/discover.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "evidence/testing.h"

namespace holter::evidence {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;

std::vector<std::string> shown(const Discovery& found) {
  std::vector<std::string> out;
  for (const auto& input : found.inputs) {
    out.push_back(input.shown + (input.unread.empty() ? "" : " (" + input.unread.substr(0, 12) + ")"));
  }
  return out;
}

TEST(NaturalLess, digits_compare_as_numbers) {
  EXPECT_TRUE(natural_less("rank2.log", "rank10.log"));
  EXPECT_FALSE(natural_less("rank10.log", "rank2.log"));
  EXPECT_TRUE(natural_less("a", "a1"));
  EXPECT_TRUE(natural_less("x01", "x1") != natural_less("x1", "x01"));
  EXPECT_FALSE(natural_less("x9", "x9"));
  EXPECT_TRUE(natural_less("99999999999999999999998", "99999999999999999999999"));
}

TEST(Discover, folders_are_walked_in_natural_order) {
  ScratchFolder dir;
  for (const char* name : {"rank10.log", "rank2.log", "gn7/dmesg.txt", ".hidden"}) dir.write(name, "x");
  EXPECT_THAT(shown(discover({dir.path()}, {})), ElementsAre(".hidden", "gn7/dmesg.txt", "rank2.log", "rank10.log"));
  EXPECT_THAT(shown(discover({dir.path() + "/"}, {})).size(), 4u);
}

TEST(Discover, several_paths_are_shown_below_what_they_have_in_common) {
  ScratchFolder dir;
  for (const char* name : {"run1/rank0.log", "run2/rank0.log", "x.txt"}) dir.write(name, "x");
  EXPECT_THAT(shown(discover({dir.path("run1"), dir.path("run2"), dir.path("x.txt")}, {})),
              ElementsAre("run1/rank0.log", "run2/rank0.log", "x.txt"));
  EXPECT_THAT(shown(discover({dir.path("run1/rank0.log"), dir.path("run1/rank0.log")}, {})), ElementsAre("rank0.log"));
}

TEST(Discover, links_inside_are_not_followed_and_loops_are_harmless) {
  ScratchFolder dir;
  dir.write("real/a.log", "x");
  fs::create_symlink("..", dir.path("real/up"));
  fs::create_symlink("loop", dir.path("loop"));
  fs::create_symlink("/dev/zero", dir.path("zero"));
  const auto found = discover({dir.path()}, {});
  EXPECT_THAT(shown(found),
              ElementsAre("loop (a symbolic l)", "real/a.log", "real/up (a symbolic l)", "zero (a symbolic l)"));
  fs::create_symlink(dir.path("real"), dir.path("given"));
  EXPECT_THAT(shown(discover({dir.path("given")}, {})), ElementsAre("a.log", "up (a symbolic l)"));
  EXPECT_THAT(shown(discover({dir.path("zero")}, {})), ElementsAre("zero (a device)"));
}

TEST(Discover, pipes_and_sockets_are_listed_unread) {
  ScratchFolder dir;
  ASSERT_EQ(::mkfifo(dir.path("fifo").c_str(), 0600), 0);
  const base::Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", dir.path("sock").c_str());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(shown(discover({dir.path()}, {})), ElementsAre("fifo (a named pipe)", "sock (a socket)"));
  EXPECT_THAT(shown(discover({dir.path("fifo")}, {})), ElementsAre("fifo (a named pipe)"));
}

TEST(Discover, odd_names_are_shown_escaped) {
  ScratchFolder dir;
  dir.write("a\nb\x1b[31m.log", "x");
  dir.write("bad\xff.log", "x");
  EXPECT_THAT(shown(discover({dir.path()}, {})), ElementsAre("a\\x0ab\\x1b[31m.log", "bad\xEF\xBF\xBD.log"));
}

TEST(Discover, limits_are_troubles) {
  ScratchFolder dir;
  for (int i = 0; i < 20; ++i) dir.write("f" + std::to_string(i), "x");
  Limits limits;
  limits.max_files = 5;
  auto found = discover({dir.path()}, limits);
  EXPECT_THAT(shown(found), ElementsAre("f0", "f1", "f2", "f3", "f4"));
  ASSERT_EQ(found.troubles.size(), 1u);
  EXPECT_THAT(found.troubles[0].what, HasSubstr("more than 5 files"));
  ScratchFolder deep;
  deep.write("1/2/3/4/x", "x");
  limits.max_folder_depth = 2;
  found = discover({deep.path()}, limits);
  ASSERT_EQ(found.troubles.size(), 1u);
  EXPECT_EQ(found.troubles[0].shown, "1/2/3");
}

TEST(Discover, what_is_not_there_is_a_trouble) {
  const auto found = discover({"/nonexistent/x"}, {});
  ASSERT_EQ(found.troubles.size(), 1u);
  EXPECT_THAT(found.troubles[0].what, HasSubstr("No such file"));
  EXPECT_THAT(discover({"/proc"}, {}).troubles.at(0).what, HasSubstr("live view"));
}

TEST(Opener, refuses_what_changed_after_it_was_listed) {
  ScratchFolder dir;
  dir.write("d/a", "x");
  dir.write("d/b", "x");
  dir.write("secret", "x");
  const auto found = discover({dir.path("d")}, {});
  ASSERT_EQ(found.inputs.size(), 2u);
  fs::remove(dir.path("d/a"));
  fs::create_symlink("../secret", dir.path("d/a"));
  fs::remove(dir.path("d/b"));
  ASSERT_EQ(::mkfifo(dir.path("d/b").c_str(), 0600), 0);
  Opener opener(found);
  std::uint64_t bytes = 0;
  std::string why;
  EXPECT_FALSE(opener.open(found.inputs[0], bytes, why));
  EXPECT_THAT(why, HasSubstr("cannot be opened"));
  EXPECT_FALSE(opener.open(found.inputs[1], bytes, why));
  EXPECT_THAT(why, HasSubstr("became a named pipe"));
}

}  // namespace
}  // namespace holter::evidence
