// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/grid.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"

namespace brigade::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Study study_of(const std::string& study_lines, const std::string& grid_lines) {
  const Result<Study> study = read_study(concat("[study]\nname = \"s\"\nbase = \"tiny.toml\"\n",
                                                study_lines,
                                                "\n[grid]\n",
                                                grid_lines,
                                                '\n'),
                                         BRIGADE_TEST_DATA "/../../configs/bench/s.toml");
  EXPECT_TRUE(study) << study.error().text;
  return study ? *study : Study();
}

std::vector<std::string> ids(const Grid& grid) {
  std::vector<std::string> out;
  for (const PlannedPoint& planned : grid.points) {
    out.push_back(planned.point.id);
  }
  return out;
}

/// "name: id id"
std::vector<std::string> series(const Grid& grid) {
  std::vector<std::string> out;
  for (const PlannedSeries& one : grid.series) {
    std::vector<std::string> members;
    for (const size_t point : one.points) {
      members.push_back(grid.points[point].point.id);
    }
    out.push_back(concat(one.name, ": ", join(members, " ")));
  }
  return out;
}

TEST(Grid, OneRankIsMeasuredOnceAndBeginsEachSeries) {
  const Result<Grid> grid = points_of(
      study_of("",
               "ranks = [1, 2]\nmesh = [\"dp\", \"tp\", \"pp\"]\nmodel_flavor = [\"tiny\", "
               "\"small\"]"),
      {.cores = 2});
  ASSERT_TRUE(grid) << grid.error().text;
  EXPECT_THAT(ids(*grid),
              ElementsAre("tiny-one-r1-mb4",
                          "tiny-dp-r2-z0-mb4",
                          "tiny-tp-r2-mb4",
                          "tiny-pp-r2-1F1B-mb4",
                          "small-one-r1-mb4",
                          "small-dp-r2-z0-mb4",
                          "small-tp-r2-mb4",
                          "small-pp-r2-1F1B-mb4"));
  EXPECT_THAT(series(*grid),
              ElementsAre("tiny dp zero 0: tiny-one-r1-mb4 tiny-dp-r2-z0-mb4",
                          "tiny tp: tiny-one-r1-mb4 tiny-tp-r2-mb4",
                          "tiny pp 1F1B: tiny-one-r1-mb4 tiny-pp-r2-1F1B-mb4",
                          "small dp zero 0: small-one-r1-mb4 small-dp-r2-z0-mb4",
                          "small tp: small-one-r1-mb4 small-tp-r2-mb4",
                          "small pp 1F1B: small-one-r1-mb4 small-pp-r2-1F1B-mb4"));
  EXPECT_TRUE(grid->refused.empty());
  EXPECT_EQ(grid->points[0].point.series, "tiny dp zero 0");
  EXPECT_EQ(grid->points[1].point.mesh, "pp=1 x dp_replicate=1 x dp_shard=2 x tp=1");
  EXPECT_EQ(grid->points[1].point.model, "llama3 tiny");
  EXPECT_EQ(grid->points[1].point.global_batch_size, 8);
  EXPECT_GT(grid->points[5].step_flops, 10 * grid->points[1].step_flops);
}

TEST(Grid, StagesAndSchedulesCountWhereTheyMatterAlone) {
  const Result<Grid> grid = points_of(
      study_of("oversubscribe = true",
               "ranks = [1, 2, 4]\nmesh = { 1 = \"dp\", 2 = [\"dp\", \"tp\", \"pp\"], 4 = \"dp2 x "
               "tp2\" }\nzero_stage = [0, 3]\nschedule = [\"1F1B\", \"GPipe\"]\n"
               "microbatch_size = [1, 2]\nmodel_flavor = \"tiny\""),
      {.cores = 2});
  ASSERT_TRUE(grid) << grid.error().text;
  // one: 2; dp2: 2 x 2; tp2: 2; pp2: 2 x 2; dp2 x tp2: 2 x 2
  EXPECT_EQ(grid->points.size(), 16U);
  EXPECT_THAT(series(*grid),
              ::testing::Contains("tiny dp x tp2 zero 3 mb 2: tiny-one-r1-mb2 "
                                  "tiny-dp2xtp2-r4-z3-mb2"));
  for (const PlannedPoint& planned : grid->points) {
    EXPECT_EQ(planned.point.oversubscribed, planned.point.ranks == 4) << planned.point.id;
  }
}

TEST(Grid, EachRefusedPointSaysWhy) {
  const Result<Grid> grid = points_of(
      study_of("", "ranks = [1, 2, 3]\nmesh = [\"dp\", \"tp\", \"pp\"]\nthreads = [1, 2]"),
      {.cores = 3});
  ASSERT_TRUE(grid) << grid.error().text;
  std::map<std::string, std::string> why;
  for (const RefusedPoint& point : grid->refused) {
    why[point.id] = point.reason;
  }
  EXPECT_THAT(why.at("dp-r3"), HasSubstr("but m must be a whole number of at least 1"));
  EXPECT_THAT(why.at("tp-r3"), HasSubstr("query heads cannot be split over tp=3"));
  EXPECT_EQ(why.at("pp-r2-t2"),
            "2 ranks x 2 threads are more than the 3 cores of this machine; set oversubscribe = "
            "true in [study] to run it, marked");
  for (const auto& [id, reason] : why) {
    EXPECT_EQ(reason.find('\n'), std::string::npos) << id;
  }
}

TEST(Grid, AStudyWithoutAPointThatRunsSaysWhyEachFell) {
  const Result<Grid> grid =
      points_of(study_of("", "ranks = [4, 64]\nmesh = [\"pp\"]"), {.cores = 2});
  ASSERT_FALSE(grid);
  EXPECT_EQ(grid.error().code, ErrorCode::kUsage);
  EXPECT_THAT(grid.error().text,
              HasSubstr("no point of the study can run; why each fell:\n  pp-r4"));
  EXPECT_THAT(grid.error().text, HasSubstr("\n  pp-r64: 64 ranks x 1 thread are more than"));
}

TEST(Grid, WeakScalingGrowsTheBatchWithTheDataRanks) {
  const Result<Grid> grid = points_of(
      study_of(
          "scaling = \"weak\"\nbatch_per_data_rank = 4\noversubscribe = true",
          "ranks = [1, 2, 4, 8]\nmesh = { 1 = \"dp\", 2 = [\"dp\", \"tp\"], 4 = [\"dp\", \"dp2 "
          "x tp2\"], 8 = \"dp4 x tp2\" }\nmodel_flavor = \"tiny\""),
      {.cores = 2});
  ASSERT_TRUE(grid) << grid.error().text;
  EXPECT_THAT(series(*grid),
              ElementsAre("tiny dp zero 0: tiny-one-r1-mb4 tiny-dp-r2-z0-mb4 tiny-dp-r4-z0-mb4",
                          "tiny dp x tp2 zero 0: tiny-dp2xtp2-r4-z0-mb4 tiny-dp4xtp2-r8-z0-mb4"));
  std::map<std::string, int64_t> batch;
  for (const PlannedPoint& planned : grid->points) {
    batch[planned.point.id] = planned.point.global_batch_size;
  }
  EXPECT_EQ(batch.at("tiny-one-r1-mb4"), 4);
  EXPECT_EQ(batch.at("tiny-dp-r4-z0-mb4"), 16);
  EXPECT_EQ(batch.at("tiny-dp4xtp2-r8-z0-mb4"), 16);
  ASSERT_EQ(grid->refused.size(), 1U);
  EXPECT_THAT(grid->refused[0].reason, HasSubstr("tp2 has one: the work of a rank would fall"));
  EXPECT_THAT(grid->constant, HasSubstr("the sequences of each data rank"));
}

TEST(Grid, AMemoryConstrainedStudyTakesTheLargestModelThatFits) {
  const auto plan = [](const config::RunConfig& config, const config::RunFacts& facts) {
    return Result<int64_t>((config.model.flavor == "tiny" ? 100 : 1000) / facts.dp_shard);
  };
  const Study study =
      study_of("scaling = \"memory_constrained\"\nmemory_per_rank = 500\noversubscribe = true",
               "ranks = [1, 2, 4]\nmodel_flavor = [\"small\", \"tiny\"]\nzero_stage = "
               "3\nmicrobatch_size = 1");
  const Result<Grid> grid = points_of(study, {.cores = 2, .planned_bytes = plan});
  ASSERT_TRUE(grid) << grid.error().text;
  EXPECT_THAT(series(*grid),
              ElementsAre("dp zero 3: tiny-one-r1-mb1 small-dp-r2-z3-mb1 small-dp-r4-z3-mb1"));

  Study small = study;
  small.memory_per_rank = 30;
  const Result<Grid> less = points_of(small, {.cores = 2, .planned_bytes = plan});
  ASSERT_TRUE(less);
  ASSERT_EQ(less->refused.size(), 2U);
  EXPECT_EQ(less->refused[0].reason,
            "no model fits memory_per_rank 30 B: small needs 1000 B, tiny needs 100 B");
  EXPECT_FALSE(points_of(study, {.cores = 2}));
}

TEST(Grid, EveryStudyOfOursHasItsPoints) {
  const std::string folder = BRIGADE_TEST_DATA "/../../configs/studies/";
  const std::map<std::string, size_t> points = {{"two_ranks", 8}, {"oversubscribed", 16}};
  for (const auto& [name, count] : points) {
    const Result<Study> study = load_study(folder + name + ".toml");
    ASSERT_TRUE(study) << study.error().text;
    const Result<Grid> grid = points_of(*study, {.cores = 2});
    ASSERT_TRUE(grid) << grid.error().text;
    EXPECT_EQ(grid->points.size(), count) << name;
    EXPECT_TRUE(grid->refused.empty()) << name << ": " << grid->refused[0].reason;
  }
}

TEST(Grid, ABaseThatIsNoneIsSaidOnce) {
  Study study = study_of("", "ranks = [1, 2]");
  study.settings = {"training.sequence=3"};
  const Result<Grid> grid = points_of(study, {.cores = 2});
  ASSERT_FALSE(grid);
  EXPECT_THAT(grid.error().text, HasSubstr("the base recipe with the study's settings: 1 problem"));
}

}  // namespace
}  // namespace brigade::study
