// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/study_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"

namespace brigade::study {
namespace {

using ::testing::HasSubstr;

/// What a study with these lines in its tables says is wrong; "" for nothing.
std::string said(const std::string& study_lines, const std::string& grid_lines) {
  const Result<Study> study = read_study(concat("[study]\nname = \"s\"\nbase = \"b.toml\"\n",
                                                study_lines,
                                                "\n[grid]\n",
                                                grid_lines,
                                                '\n'),
                                         "s.toml");
  return study ? "" : study.error().text;
}

TEST(StudyChecks, WeakScalingRefusesAFixedGlobalBatch) {
  const std::string text =
      said("scaling = \"weak\"\nsettings = [\"training.global_batch_size=8\"]", "");
  EXPECT_THAT(text, HasSubstr("s.toml:5:1: training.global_batch_size fixes a batch that weak"));
  EXPECT_THAT(text, HasSubstr("batch_per_data_rank"));
  EXPECT_EQ(said("scaling = \"strong\"\nsettings = [\"training.global_batch_size=8\"]", ""), "");
}

TEST(StudyChecks, KeysOfOneKindOfScalingAreRefusedInAnother) {
  EXPECT_THAT(said("batch_per_data_rank = 4", ""), HasSubstr("is for scaling = \"weak\""));
  EXPECT_THAT(said("memory_per_rank = 4", ""),
              HasSubstr("is for scaling = \"memory_constrained\""));
  const std::string text = said("scaling = \"memory_constrained\"", "model_flavor = \"tiny\"");
  EXPECT_THAT(text, HasSubstr("needs memory_per_rank"));
  EXPECT_THAT(text, HasSubstr("list at least two as model_flavor"));
}

TEST(StudyChecks, WhatTheStudyDecidesMayNotBeASetting) {
  EXPECT_THAT(said("settings = [\"training.steps=5\"]", ""),
              HasSubstr("training.steps is decided by steps and warmup_steps"));
  EXPECT_THAT(said("settings = [\"--parallelism.tensor-parallel-degree=2\"]", ""),
              HasSubstr("parallelism.tensor_parallel_degree is decided by mesh of [grid]"));
  EXPECT_THAT(said("settings = [\"model.flavor=tiny\"]", "model_flavor = \"small\""),
              HasSubstr("model.flavor contradicts model_flavor of [grid]"));
  EXPECT_EQ(said("settings = [\"model.flavor=tiny\"]", ""), "");
}

TEST(StudyChecks, AKeyThatNoMeshHeedsIsRefused) {
  EXPECT_THAT(said("", "ranks = [1, 2]\nmesh = \"tp\"\nzero_stage = [0, 1]"),
              HasSubstr("zero_stage above 0 shares states over dp"));
  EXPECT_THAT(said("", "ranks = [1, 2]\nschedule = \"GPipe\""),
              HasSubstr("schedule is for pipelines"));
  EXPECT_EQ(said("", "ranks = [1, 2]\nmesh = [\"dp\", \"pp\"]\nschedule = \"GPipe\""), "");
}

}  // namespace
}  // namespace brigade::study
