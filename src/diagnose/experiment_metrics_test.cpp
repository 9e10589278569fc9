// SPDX-License-Identifier: Apache-2.0
#include "diagnose/experiment_metrics.h"

#include <gtest/gtest.h>

#include "formats/rules/rules.h"

namespace holter::diagnose {
namespace {

std::vector<Experiment> judged(std::vector<Experiment> runs) {
  return judge_by_metric(formats::rules::builtin(), std::move(runs));
}

TEST(ExperimentMetrics, a_lower_loss_and_a_higher_score_are_good) {
  const auto losses = judged({{"flash", "loss 2.61 at step 400"}, {"sdpa", "loss 2.31 at step 400"}});
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_FALSE(losses[0].good);
  EXPECT_TRUE(losses[1].good);
  const auto scores = judged({{"a", "gsm8k=0.86"}, {"b", "gsm8k=0.02"}});
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_TRUE(scores[0].good);
  EXPECT_FALSE(scores[1].good);
}

TEST(ExperimentMetrics, noise_and_other_metrics_are_not_compared) {
  EXPECT_TRUE(judged({{"a", "loss 2.30"}, {"b", "loss 2.31"}}).empty());
  EXPECT_TRUE(judged({{"a", "loss 2.30"}, {"b", "perplexity 9.1"}}).empty());
  EXPECT_TRUE(judged({{"a", "loss 2.30"}}).empty());
}

TEST(ExperimentMetrics, a_run_in_the_middle_is_neither) {
  const auto runs = judged({{"a", "loss 2.0"}, {"b", "loss 2.5"}, {"c", "loss 3.0"}});
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].condition, "a");
  EXPECT_EQ(runs[1].condition, "c");
}

}  // namespace
}  // namespace holter::diagnose
