// SPDX-License-Identifier: Apache-2.0
// All golden incidents read at once with the real readers: by one thread and by four. Also run under
// ThreadSanitizer.
#include <gmock/gmock.h>

#include "base/result_matchers.h"
#include "evidence/read.h"
#include "formats/rules/rules.h"

namespace holter::evidence {
namespace {

model::Evidence read_incidents(int threads) {
  Options options;
  options.executor = base::thread_executor(threads);
  auto got = read({HOLTER_SOURCE_DIR "/tests/incidents"}, formats::rules::builtin(), options);
  EXPECT_TRUE(got) << (got ? "" : got.error().to_string());
  return got ? std::move(*got) : model::Evidence();
}

TEST(ReadThreads, the_number_of_threads_changes_nothing) {
  const auto one = read_incidents(1);
  const auto four = read_incidents(4);
  EXPECT_GT(one.files.size(), 100u);
  EXPECT_GT(one.events.size(), 100u);
  EXPECT_GT(one.entries.size(), 1000u);

  ASSERT_EQ(one.files.size(), four.files.size());
  for (std::size_t i = 0; i < one.files.size(); ++i) {
    EXPECT_EQ(one.files[i].path, four.files[i].path);
    EXPECT_EQ(one.files[i].format, four.files[i].format);
    EXPECT_EQ(one.files[i].bytes, four.files[i].bytes);
  }
  ASSERT_EQ(one.events.size(), four.events.size());
  for (std::size_t i = 0; i < one.events.size(); ++i) {
    EXPECT_EQ(one.events[i].at.file, four.events[i].at.file);
    EXPECT_EQ(one.text(one.events[i].text), four.text(four.events[i].text));
  }
  ASSERT_EQ(one.entries.size(), four.entries.size());
  for (std::size_t i = 0; i < one.entries.size(); ++i) {
    EXPECT_EQ(one.text(one.entries[i].op), four.text(four.entries[i].op));
  }
  EXPECT_EQ(one.stacks.size(), four.stacks.size());
  EXPECT_EQ(one.facts.size(), four.facts.size());
  EXPECT_EQ(one.ras.size(), four.ras.size());
  EXPECT_EQ(one.problems.size(), four.problems.size());
}

}  // namespace
}  // namespace holter::evidence
