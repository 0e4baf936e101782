// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/runner.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::study {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    study_.base = "base.toml";
    study_.steps = 2;
    study_.warmup_steps = 1;
    study_.timeout_seconds = 30;
  }

  /// A program in place of brigade, which finds its run folder in its last argument.
  RunOptions in_place_of_brigade(const std::string& script) const {
    const std::string path = concat(folder_.path().string(), "/brigade");
    std::ofstream(path) << "#!/bin/sh\nfor last; do :; done\nrun=${last#job.dump_folder=}\n"
                           "mkdir -p \"$run\"\n"
                        << script << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return {.brigade = path, .grace = std::chrono::milliseconds(300)};
  }

  RunResult run(const PlannedPoint& planned, const RunOptions& options) const {
    const Result<std::optional<RunResult>> result =
        run_point(planned, study_, options, folder_.path().string());
    EXPECT_TRUE(result) << result.error().text;
    EXPECT_TRUE(result && *result);
    return result && *result ? **result : RunResult();
  }

  static PlannedPoint peer(const std::string& command) {
    PlannedPoint planned;
    planned.point.peer = "p";
    planned.command = command;
    return planned;
  }

  const TemporaryFolder folder_;
  Study study_;
};

TEST_F(RunnerTest, ARunOfBrigadeIsReadFromItsRunFolder) {
  PlannedPoint planned;
  planned.settings = {"training.steps=3"};
  const RunResult result = run(planned, in_place_of_brigade(R"(echo "$@"
for step in 1 2 3; do echo "{\"step\":$step,\"step_ms\":$step.5}" >> "$run/metrics.jsonl"; done)"));
  EXPECT_EQ(result.failure, "");
  EXPECT_THAT(result.step_ms, ElementsAre(2.5, 3.5));
  EXPECT_NE(result.began, "");
  std::ifstream console(concat(folder_.path().string(), "/console.log"));
  std::string line;
  std::getline(console, line);
  EXPECT_EQ(line,
            concat("train --config=base.toml training.steps=3 job.dump_folder=",
                   folder_.path().string(),
                   "/run"));
}

TEST_F(RunnerTest, ACrashIsAResultWithItsLastLines) {
  const RunResult result = run({}, in_place_of_brigade("echo step 1; echo no memory >&2; exit 1"));
  EXPECT_EQ(result.failure, "failed with exit code 1");
  EXPECT_THAT(result.last_lines, ElementsAre("step 1", "no memory"));
}

TEST_F(RunnerTest, ARunThatHangsIsAResultToo) {
  study_.timeout_seconds = 1;
  const RunResult result = run({}, in_place_of_brigade("echo waiting; sleep 600"));
  EXPECT_THAT(result.failure, HasSubstr("did not end by itself and was ended"));
  EXPECT_THAT(result.failure, HasSubstr("timeout_seconds = 1"));
  EXPECT_THAT(result.last_lines, ElementsAre("waiting"));
}

TEST_F(RunnerTest, ARunThatRecordedTooLittleHasFailed) {
  EXPECT_THAT(run({}, in_place_of_brigade("true")).failure, HasSubstr("recorded 0 of 2 steps"));
}

TEST_F(RunnerTest, AWishToStopLeavesNoResult) {
  RunOptions options = in_place_of_brigade("sleep 600");
  options.stop = [] { return true; };
  const Result<std::optional<RunResult>> result =
      run_point({}, study_, options, folder_.path().string());
  ASSERT_TRUE(result);
  EXPECT_FALSE(*result);
}

TEST_F(RunnerTest, APeersOutputIsItsStandardOutputAlone) {
  const RunResult result =
      run(peer("echo '{\"x\": 1}' >&2; echo '{\"step_ms_median\": 5}'; echo late >&2"), {});
  EXPECT_EQ(result.failure, "");
  EXPECT_THAT(result.step_ms, ElementsAre(5));
}

TEST_F(RunnerTest, APeerThatPrintsNoJsonHasFailedWithWhatItPrinted) {
  const RunResult result = run(peer("echo hello; echo warning >&2"), {});
  EXPECT_EQ(result.failure, "the peer printed no line that is a JSON object; its last line: hello");
  EXPECT_THAT(result.last_lines, ElementsAre("hello", "warning"));
  EXPECT_THAT(run(peer("printf '\\377\\000\\001'"), {}).failure, HasSubstr("its last line: ???"));
}

TEST_F(RunnerTest, APeerThatFailsIsToldByItsWordsElseByItsCode) {
  EXPECT_THAT(run(peer("echo '{\"failed\": \"a rank failed\"}'; exit 1"), {}).failure,
              HasSubstr("a rank failed"));
  EXPECT_EQ(run(peer("echo '{\"step_ms_median\": 5}'; exit 4"), {}).failure,
            "failed with exit code 4");
}

TEST_F(RunnerTest, WhereNothingCanBeWrittenIsAnError) {
  const Result<std::optional<RunResult>> result = run_point({}, study_, {}, "/nowhere");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace brigade::study
