// SPDX-License-Identifier: Apache-2.0
// Stages 2 and 3 of ZeRO over TCP: processes that share gradients and weights reach the curve of
// one rank, and a rank that dies between two gathers leaves nobody waiting.
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/end_to_end/train_process.h"
#include "tests/support/signal_process.h"

namespace brigade::end_to_end {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Settings beside the degrees.
struct Layout {
  const char* name;
  int replicate, shard, tensor, pipeline;
  Settings settings;
};

Settings settings_of(const Layout& layout) {
  Settings all = {
      "parallelism.data_parallel_replicate_degree=" + std::to_string(layout.replicate),
      "parallelism.data_parallel_shard_degree=" + std::to_string(layout.shard),
      "parallelism.tensor_parallel_degree=" + std::to_string(layout.tensor),
      "parallelism.pipeline_parallel_degree=" + std::to_string(layout.pipeline),
  };
  all.insert(all.end(), layout.settings.begin(), layout.settings.end());
  return all;
}

const std::string kZero2 = "parallelism.zero_stage=2";
const std::string kZero3 = "parallelism.zero_stage=3";
const std::string kGPipe = "parallelism.pipeline_parallel_schedule=GPipe";
const std::string kStep = "parallelism.reduce_gradients=step";
const std::string kNever = "parallelism.fsdp_reshard_after_forward=never";
const std::string kSequence = "parallelism.sequence_parallel=true";
const std::string kFull = "activation_checkpoint.mode=full";

const std::vector<Layout> kData = {
    {"dp2 z2", 1, 2, 1, 1, {kZero2}},
    {"dp2 z3", 1, 2, 1, 1, {kZero3}},
    {"dp4 z3, once a step, far ahead", 1, 4, 1, 1, {kZero3, kStep, "parallelism.fsdp_prefetch=3"}},
    {"replicate2 shard2 z2", 2, 2, 1, 1, {kZero2}},
    {"replicate2 shard2 z3", 2, 2, 1, 1, {kZero3}},
};

const std::vector<Layout> kTensor = {
    {"dp2 tp2 z2, sequence", 1, 2, 2, 1, {kZero2, kSequence}},
    {"dp2 tp2 z3, recomputed", 1, 2, 2, 1, {kZero3, kFull}},
    {"dp4 tp2 z3, small ones whole", 1, 4, 2, 1, {kZero3, "parallelism.fsdp_replicate_below=64"}},
};

const std::vector<Layout> kPipeline = {
    {"dp2 pp2 z2", 1, 2, 1, 2, {kZero2}},
    {"dp2 pp2 z3, GPipe, kept", 1, 2, 1, 2, {kZero3, kGPipe, kNever}},
    {"dp2 pp4 z3", 1, 2, 1, 4, {kZero3}},
    {"dp2 tp2 pp2 z3", 1, 2, 2, 2, {kZero3, kSequence}},
};

class ProcessZero : public ProcessCurveTest {
 protected:
  void expect_curves(const std::vector<Layout>& layouts) {
    for (const Layout& layout : layouts) {
      SCOPED_TRACE(layout.name);
      ASSERT_EQ(train(settings_of(layout)), 0);
      expect_the_same_curve();
      std::filesystem::remove_all(run_folder());
    }
  }
};

TEST_F(ProcessZero, ReachesTheCurveOfOneRankOnDataRanks) {
  expect_curves(kData);
}

TEST_F(ProcessZero, ReachesTheCurveOfOneRankWithTensorRanks) {
  expect_curves(kTensor);
}

TEST_F(ProcessZero, ReachesTheCurveOfOneRankOnAPipeline) {
  expect_curves(kPipeline);
}

class ProcessZeroFailures : public TrainProcessTest {};

TEST_F(ProcessZeroFailures, R049ARankThatIsKilledAtStageThreeIsNamedLastAndOnce) {
  for (const Layout& layout : {kData[1], kPipeline[1]}) {
    SCOPED_TRACE(layout.name);
    const int victim = layout.pipeline == 1 ? 1 : 3;
    const std::string ranks = std::to_string(layout.shard * layout.pipeline);
    const Run run = start(endless(settings_of(layout)));
    ASSERT_TRUE(reaches(run, 3)) << run->console();
    testing::signal_process(run->rank(victim), SIGKILL);
    const std::optional<int> code = run->wait(10s);
    console_ = run->console();
    ASSERT_TRUE(code.has_value()) << "still runs";
    EXPECT_NE(*code, 0);
    EXPECT_TRUE(run->all_gone());
    EXPECT_THAT(
        last_line(console_),
        HasSubstr("rank " + std::to_string(victim) + " of " + ranks + " was killed by SIGKILL"));
    EXPECT_EQ(count_of("brigade: ", console_), 1);
    std::filesystem::remove_all(run_folder());
  }
}

}  // namespace
}  // namespace brigade::end_to_end
