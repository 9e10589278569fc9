// SPDX-License-Identifier: Apache-2.0
// The page as text; tests/ui looks at it in a browser.
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "report/html.h"
#include "report/report.h"
#include "report/sample_report.h"

namespace holter::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

TEST(Html, is_one_file_that_fetches_nothing) {
  const auto page = to_html(testing::hang(64));
  EXPECT_THAT(
      page, AllOf(HasSubstr("default-src 'none'"), HasSubstr("script-src 'sha256-"), Not(HasSubstr("unsafe-inline"))));
  for (const auto* part : {"src=", "http://", "https://", "url(", "@import", " style=\"", "onclick"})
    EXPECT_THAT(page, Not(HasSubstr(part)));
  EXPECT_THAT(page, AllOf(HasSubstr("rank 26 on gpu3, GPU 3"), HasSubstr("id=\"E2\""),
                          HasSubstr("<mark>nfs: server 10.20.0.9 not responding")));
}

TEST(Html, hostile_text_stays_text) {
  const auto page = to_html(testing::poisoned("</script><img onerror=x><!--\"'\xE2\x80\xAE\x1b[2J"));
  EXPECT_EQ(count(page, "</script>"), 5u);  // the data and four scripts of our own
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("<!--")), Not(HasSubstr("\x1b"))));
  const auto start = page.find("id=\"data\">") + 10;
  rapidjson::Document data;
  data.Parse(page.substr(start, page.find("</script>", start) - start).c_str());
  EXPECT_FALSE(data.HasParseError());
}

TEST(Html, an_empty_report_is_a_page) {
  const auto page = to_html(model::Report{});
  EXPECT_THAT(page, AllOf(HasSubstr("UNDETERMINED"), Not(HasSubstr("id=\"data\"")), Not(HasSubstr("id=\"timeline\""))));
}

TEST(Html, anchors_are_unique) {
  const auto page = to_html(testing::poisoned("\" onmouseover=\"x"));
  std::set<std::string> seen;
  for (auto at = page.find(" id=\""); at != std::string::npos; at = page.find(" id=\"", at + 5)) {
    EXPECT_TRUE(seen.insert(page.substr(at, page.find('"', at + 5) - at)).second) << page.substr(at, 40);
  }
}

TEST(Html, ranks_are_folded_and_the_page_stays_small) {
  rapidjson::Document data;
  data.Parse(html_data(testing::hang(1024)).c_str());
  EXPECT_EQ(data["calls"]["lanes"].Size(), 2u);
  EXPECT_STREQ(data["calls"]["lanes"][0]["ranks"].GetString(), "410");
  EXPECT_LT(to_html(testing::hang(1024)).size(), 400'000u);
  EXPECT_LT(to_html(testing::hang(16'384, 20)).size(), 4'000'000u);
}

double channel(int value) {
  const double c = value / 255.0;
  return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}
double luminance(const std::string& hex) {
  const auto at = [&](std::size_t i) { return channel(std::stoi(hex.substr(i, 2), nullptr, 16)); };
  return 0.2126 * at(1) + 0.7152 * at(3) + 0.0722 * at(5);
}
double contrast(const std::string& a, const std::string& b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

// WCAG 2 AA for text, in every theme of the style sheet.
TEST(Html, every_text_colour_has_contrast) {
  std::ifstream file(HOLTER_SOURCE_DIR "/src/report/html/report.css");
  std::stringstream text;
  text << file.rdbuf();
  std::string css = text.str();
  css.resize(css.find("@media print"));
  int themes = 0;
  for (auto at = css.find("--ground: #"); at != std::string::npos; at = css.find("--ground: #", at + 1), ++themes) {
    const auto value = [&](const std::string& name) {
      return css.substr(css.find("--" + name + ": #", at) + name.size() + 4, 7);
    };
    for (const auto* ground : {"ground", "raised", "mark"}) {
      EXPECT_GE(contrast(value("text"), value(ground)), 4.5) << ground << at;
    }
    for (const auto* name : {"muted", "accent", "culprit", "waiting", "progress", "secondary"}) {
      EXPECT_GE(contrast(value(name), value("ground")), 4.5) << name << " at " << at;
    }
    for (const auto* name : {"muted", "culprit", "waiting"})
      EXPECT_GE(contrast(value(name), value("raised")), 4.5) << name << " on raised at " << at;
  }
  EXPECT_EQ(themes, 3);
}

}  // namespace
}  // namespace holter::report
