// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/candidate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/config/load.h"

namespace brigade::study {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Study small() {
  Study study;
  study.base = BRIGADE_TEST_DATA "/../../configs/tiny/single.toml";
  study.settings = {"training.seq-len=64"};
  return study;
}

Result<Plan> plan_with(const Study& study, const Candidate& candidate) {
  const Result<config::RunConfig> base = config::load(study.base, study.settings);
  EXPECT_TRUE(base) << base.error().text;
  return plan_of(candidate, study, *base);
}

TEST(Candidate, ItsSettingsMakeTheRunThatItIs) {
  const Candidate candidate = {2, 3, *mesh_choice("pp", 2), "small", std::nullopt, "GPipe", 2};
  const Result<Plan> plan = plan_with(small(), candidate);
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(plan->config.parallelism.pipeline_parallel_degree, 2);
  EXPECT_EQ(plan->config.parallelism.pipeline_parallel_schedule, "GPipe");
  EXPECT_EQ(plan->config.launch.threads_per_rank, 3);
  EXPECT_EQ(plan->config.training.steps, 12);
  EXPECT_EQ(plan->config.training.seq_len, 64);
  EXPECT_EQ(plan->config.training.microbatch_size, 2);
  EXPECT_EQ(plan->config.model.flavor, "small");
  EXPECT_EQ(plan->config.metrics.log_freq, 1);
  EXPECT_EQ(config::wanted_ranks(plan->config), 2);
  EXPECT_EQ(config::load(small().base, plan->settings).value(), plan->config);
  EXPECT_EQ(point_of(*plan, 2).point.id, "small-pp-r2-t3-GPipe-mb2");
  EXPECT_TRUE(point_of(*plan, 5).point.oversubscribed);
  EXPECT_FALSE(point_of(*plan, 6).point.oversubscribed);
}

TEST(Candidate, ValidationAndCheckpointsAreOffUnlessTheStudyAsks) {
  const Candidate one = {1, 1, *mesh_choice("dp", 1)};
  EXPECT_FALSE(plan_with(small(), one)->config.validation.enable);
  Study asks = small();
  asks.settings.emplace_back("validation.enable=true");
  EXPECT_TRUE(plan_with(asks, one)->config.validation.enable);
}

TEST(Candidate, ABatchAmongTheSettingsStands) {
  Study asks = small();
  asks.settings.emplace_back("training.global_batch_size=32");
  const Result<Plan> plan = plan_with(asks, {1, 1, *mesh_choice("dp", 1)});
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(plan->facts.global_batch, 32);
}

TEST(Candidate, WhatTheRecipeRefusesIsOneLine) {
  const Result<Plan> plan = plan_with(small(), {2, 1, *mesh_choice("pp", 2), "tinny"});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().text, HasSubstr("tinny"));
  EXPECT_EQ(plan.error().text.find('\n'), std::string::npos);
  const Result<Plan> deep = plan_with(small(), {64, 1, *mesh_choice("pp", 64)});
  EXPECT_THAT(deep.error().text, HasSubstr("layers cannot fill pp=64 stages"));
}

}  // namespace
}  // namespace brigade::study
