// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/study_run.h"

#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::study {
namespace {

using ::testing::ElementsAre;

/// Three peers: one that works, one that crashes, and one that counts its runs in a file.
class StudyRunTest : public ::testing::Test {
 protected:
  StudyRunTest() {
    study_.name = "s";
    study_.repeats = 2;
    study_.timeout_seconds = 30;
    add("good", "echo '{\"step_ms_median\": 5}'");
    add("bad", concat("echo no >> ", log_, "; exit 1"));
    add("counts", concat("echo yes >> ", log_, "; echo '{\"step_ms_median\": 7}'"));
  }

  void add(const std::string& id, const std::string& command) {
    PlannedPoint planned;
    planned.point.id = id;
    planned.point.peer = "p";
    planned.command = command;
    grid_.points.push_back(planned);
  }

  Store store() const {
    return value_or_throw(Store::open(folder_.path().string() + "/study", {"s", {}}));
  }

  int times(const std::string& word) const {
    std::ifstream in(log_);
    int count = 0;
    for (std::string line; std::getline(in, line);) {
      count += line == word ? 1 : 0;
    }
    return count;
  }

  const TemporaryFolder folder_;
  const std::string log_ = concat(folder_.path().string(), "/log");
  Study study_;
  Grid grid_;
};

TEST_F(StudyRunTest, GoesOnAfterARunThatFails) {
  std::set<std::pair<size_t, int64_t>> ended;
  const StudyEvents events = {
      .begins = {}, .ended = [&ended](const Turn& turn, const RunResult& result, bool kept) {
        EXPECT_FALSE(kept);
        EXPECT_EQ(result.failure.empty(), turn.point != 1);
        ended.emplace(turn.point, turn.repeat);
      }};
  const Store here = store();
  EXPECT_EQ(run_study(grid_, study_, here, {}, events).value(), StudyEnd::kFinished);
  EXPECT_EQ(ended.size(), 6U);
  const std::vector<scaling::PointResult> results = results_so_far(grid_, study_, here);
  EXPECT_THAT(results[0].step_ms, ElementsAre(5, 5));
  EXPECT_EQ(results[1].failure, "failed with exit code 1");
  EXPECT_EQ(results[2].repeats, 2);
}

TEST_F(StudyRunTest, AStudyThatWasStoppedGoesOnWhereItWas) {
  int done = 0;
  const StudyEvents events = {.begins = {},
                              .ended = [&done](const Turn&, const RunResult&, bool) { ++done; }};
  const RunOptions options = {.stop = [&done] { return done == 4; }};
  {
    const Store here = store();
    EXPECT_EQ(run_study(grid_, study_, here, options, events).value(), StudyEnd::kStopped);
    EXPECT_EQ(done, 4);
  }
  int kept_ones = 0;
  const StudyEvents again = {.begins = {},
                             .ended = [&kept_ones](const Turn&, const RunResult&, bool kept) {
                               kept_ones += kept ? 1 : 0;
                             }};
  const Store here = store();
  EXPECT_EQ(run_study(grid_, study_, here, {}, again).value(), StudyEnd::kFinished);
  EXPECT_EQ(kept_ones, 4);
  EXPECT_EQ(times("yes"), 2);
  EXPECT_EQ(times("no"), 2);
}

TEST_F(StudyRunTest, FailedRunsAreRunAgainOnRequestAlone) {
  const Store here = store();
  ASSERT_TRUE(run_study(grid_, study_, here, {}, {}));
  ASSERT_TRUE(run_study(grid_, study_, here, {}, {}));
  EXPECT_EQ(times("no"), 2);
  ASSERT_TRUE(run_study(grid_, study_, here, {}, {}, /*again=*/true));
  EXPECT_EQ(times("no"), 4);
  EXPECT_EQ(times("yes"), 2);
}

}  // namespace
}  // namespace brigade::study
