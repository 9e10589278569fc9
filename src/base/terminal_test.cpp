// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace holter::base {
namespace {

flags::GetEnv environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> const char* {
    const auto it = values.find(name);
    return it == values.end() ? nullptr : it->second.c_str();
  };
}

TEST(Terminal, ColourFollowsTheConventions) {
  const auto mode = ColourMode::kAuto;
  EXPECT_TRUE(want_colour(mode, true, environment({})));
  EXPECT_FALSE(want_colour(mode, false, environment({})));
  EXPECT_FALSE(want_colour(mode, true, environment({{"NO_COLOR", "1"}})));
  EXPECT_TRUE(want_colour(mode, true, environment({{"NO_COLOR", ""}})));
  EXPECT_FALSE(want_colour(mode, true, environment({{"TERM", "dumb"}})));
  EXPECT_TRUE(want_colour(mode, false, environment({{"CLICOLOR_FORCE", "1"}})));
  EXPECT_FALSE(want_colour(mode, false, environment({{"CLICOLOR_FORCE", "0"}})));
  EXPECT_FALSE(want_colour(mode, false, environment({{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}})));
  EXPECT_TRUE(want_colour(ColourMode::kAlways, false, environment({{"NO_COLOR", "1"}})));
  EXPECT_FALSE(want_colour(ColourMode::kNever, true, environment({{"CLICOLOR_FORCE", "1"}})));
}

TEST(Terminal, TheFirstLocaleVariableDecides) {
  EXPECT_TRUE(is_utf8_locale(environment({{"LANG", "en_GB.UTF-8"}})));
  EXPECT_TRUE(is_utf8_locale(environment({{"LC_CTYPE", "C.utf8"}, {"LANG", "C"}})));
  EXPECT_FALSE(is_utf8_locale(environment({{"LC_ALL", "C"}, {"LANG", "en_GB.UTF-8"}})));
  EXPECT_FALSE(is_utf8_locale(environment({})));
}

}  // namespace
}  // namespace holter::base
