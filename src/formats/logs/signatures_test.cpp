// SPDX-License-Identifier: Apache-2.0
// Every example of rules/signatures matches its own signature; the patterns compile and are bound to
// literals. With HOLTER_SHOW_OVERLAPS set, prints which other signatures each example matches.
#include <cstdio>
#include <cstdlib>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/logs/signature_set.h"
#include "formats/rules/rules.h"

namespace holter::formats::logs {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Signatures, every_example_matches_its_own) {
  const auto& rules = rules::builtin();
  const SignatureSet set(rules);
  EXPECT_THAT(set.errors(), IsEmpty());
  EXPECT_GE(rules.signatures.size(), 200u);
  for (const auto& signature : rules.signatures) {
    EXPECT_FALSE(signature.examples.empty()) << signature.id;
    for (const auto& example : signature.examples) {
      bool own = false;
      std::string others;
      for (const auto& m : set.match(example)) {
        if (m.signature->id == signature.id) own = true;
        else others += " " + m.signature->id;
      }
      EXPECT_TRUE(own) << signature.id << " does not match: " << example;
      if (!others.empty() && std::getenv("HOLTER_SHOW_OVERLAPS"))
        std::printf("%s:%s\n", signature.id.c_str(), others.c_str());
    }
  }
}

TEST(Signatures, every_pattern_requires_a_literal) {
  const SignatureSet set(rules::builtin());
  EXPECT_THAT(set.unfiltered(), IsEmpty());
}

TEST(Signatures, triggers_stand_in_every_example_and_not_in_common_words) {
  const auto& rules = rules::builtin();
  const SignatureSet set(rules);
  std::vector<text::Prefilter::Literal> literals;
  for (const auto& trigger : set.triggers()) literals.push_back({trigger, 1});
  const text::Prefilter filter(literals);
  for (const auto& signature : rules.signatures) {
    for (const auto& example : signature.examples) EXPECT_NE(filter.masks(example), 0U) << example;
  }
  EXPECT_EQ(filter.masks("what the loader of the run did at step 40"), 0U);
}

TEST(Signatures, ordinary_lines_match_nothing) {
  const SignatureSet set(rules::builtin());
  for (const char* line :
       {"step 412 loss 1.9921 lr 1e-4 grad_norm 0.82", "INFO 08-10 23:02:39 [core.py:77] starting",
        "Loading checkpoint shards: 100%|##########| 8/8 [00:12<00:00,  1.5s/it]",
        "gn1:31:55 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", "information about inference",
        "epoch 3 done, 4096 batches, 32768 samples", "saving checkpoint at iteration 4000 to /ckpt"}) {
    for (const auto& m : set.match(line)) ADD_FAILURE() << line << " matches " << m.signature->id;
  }
}

TEST(Signatures, named_groups_become_fields) {
  const SignatureSet set(rules::builtin());
  const auto matches = set.match(
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 2 has a total capacity of 79.15 GiB "
      "of which 3.00 GiB is free. Of the allocated memory 41.25 GiB is allocated by PyTorch, and 33.75 GiB is reserved by "
      "PyTorch but unallocated.");
  ASSERT_FALSE(matches.empty());
  std::map<std::string, std::string> fields(matches[0].fields.begin(), matches[0].fields.end());
  EXPECT_EQ(fields["tried"], "1.50");
  EXPECT_EQ(fields["gpu"], "2");
  EXPECT_EQ(fields["free"], "3.00");
  EXPECT_EQ(fields["allocated"], "41.25");
  EXPECT_EQ(fields["reserved"], "33.75");
}

TEST(Signatures, a_bad_pattern_is_named) {
  model::Rules rules;
  rules.signatures.push_back({.id = "x.y", .patterns = {"(unclosed"}});
  rules.signatures.push_back({.id = "good", .patterns = {"good pattern"}});
  EXPECT_THAT(SignatureSet(rules).errors(), ::testing::ElementsAre(HasSubstr("x.y")));
}

}  // namespace
}  // namespace holter::formats::logs
