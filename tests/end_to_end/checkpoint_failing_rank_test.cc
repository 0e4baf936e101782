// SPDX-License-Identifier: Apache-2.0
// A rank that fails, or is slow, while the others save with it: R035, R043, R049 (d), R061, R062.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>

#include "tests/end_to_end/checkpoint_process.h"
#include "trainer/checkpoint/checkpoint.h"

namespace brigade::end_to_end {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using testing::DiskCall;
using testing::DiskRule;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CheckpointFailingRank : public CheckpointProcessTest {
 protected:
  /// The numbers of a checkpoint are numbers.
  void expect_finite(int64_t step) const {
    const auto opened = value_or_throw(checkpoint::Checkpoint::open(checkpoint(step)));
    for (const auto& [name, tensor] : opened->tensors()) {
      const sharding::Box all = sharding::whole_box(tensor.shape);
      std::vector<float> values(static_cast<size_t>(all.element_count()));
      value_or_throw(checkpoint::read_float32(*opened, name, all, values));
      EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](float x) {
        return std::isfinite(x);
      })) << name;
    }
  }
};

TEST_F(CheckpointFailingRank, R049AnExceptionWhileSavingEndsAllAndIsToldOnceWithItsRank) {
  for (const std::string mode : {"disabled", "async"}) {
    SCOPED_TRACE(mode);
    std::filesystem::remove_all(run_folder());
    Settings settings = saving(kDp2Pp2, 8);
    settings.emplace_back("checkpoint.async_mode=" + mode);
    const Run run = start_with(
        {{.calls = "write", .path = ".step-3.saving/rank-00003", .throws = true}}, settings);
    EXPECT_EQ(run->wait(10s), 1);
    console_ = run->console();
    EXPECT_TRUE(run->all_gone());
    EXPECT_EQ(count_of("brigade: ", console_), 1);
    EXPECT_THAT(last_line(console_), HasSubstr("rank 3 of 4 failed: step "));
    EXPECT_THAT(last_line(console_), HasSubstr("the drill's own exception"));
    EXPECT_THAT(whole_steps(), ElementsAre(2, 1));
  }
}

TEST_F(CheckpointFailingRank, R035OnlyOneRankPublishesAndOnlyWhenAllHaveWritten) {
  constexpr int64_t kSteps = 8;
  const std::string log = folder_ + "/log";
  const Settings settings = saving({"parallelism.data_parallel_shard_degree=4"}, kSteps);
  EXPECT_EQ(train_with({{.calls = "sync", .path = "rank-00002", .delay_ms = 500},
                        {.calls = "sync|rename", .path = ".saving", .log = log}},
                       settings),
            0);
  expect_no_leftovers();
  EXPECT_EQ(whole_steps().size(), static_cast<size_t>(kSteps));
  const std::vector<DiskCall> calls = testing::logged_calls(log);
  for (int64_t step = 1; step <= kSteps; ++step) {
    const std::string staging = folder() + "/.step-" + std::to_string(step) + ".saving";
    std::vector<std::string> flushed;
    int renames = 0;
    for (const DiskCall& call : calls) {
      if (call.path.starts_with(staging) && call.call == "sync") {
        EXPECT_EQ(renames, 0) << call.path;
        flushed.push_back(call.path.substr(staging.size()));
      } else if (call.path == staging + " -> " + checkpoint(step)) {
        EXPECT_EQ(call.rank, 0);
        ++renames;
      }
    }
    EXPECT_EQ(renames, 1);
    EXPECT_THAT(flushed,
                ::testing::UnorderedElementsAre("/rank-00000.safetensors",
                                                "/rank-00001.safetensors",
                                                "/rank-00002.safetensors",
                                                "/rank-00003.safetensors",
                                                "/manifest.json",
                                                ""));
  }
}

TEST_F(CheckpointFailingRank, R061ASlowSaveIsNoLostRank) {
  Settings settings = saving(kDp2, 4);
  settings.emplace_back("comm.train_timeout_seconds=3");
  settings.emplace_back("checkpoint.save_timeout_seconds=60");
  EXPECT_EQ(train_with({{.calls = "sync", .path = ".step-3.saving/rank-00001", .delay_ms = 8000}},
                       settings),
            0);
  EXPECT_THAT(whole_steps(), ElementsAre(4, 3, 2, 1));
}

TEST_F(CheckpointFailingRank, ASaveThatTakesTooLongNamesTheRank) {
  Settings settings = saving(kDp2, 4);
  settings.emplace_back("checkpoint.save_timeout_seconds=1");
  const Run run = start_with(
      {{.calls = "sync", .path = ".step-3.saving/rank-00001", .delay_ms = 30'000}}, settings);
  EXPECT_NE(run->wait(15s).value_or(0), 0);
  EXPECT_TRUE(run->all_gone());
  EXPECT_THAT(run->console(), HasSubstr("rank 1"));
  EXPECT_THAT(whole_steps(), ElementsAre(2, 1));
}

TEST_F(CheckpointFailingRank, R043ACheckpointOfAnotherRunIsNeitherTheNewestNorRemoved) {
  ASSERT_EQ(train(saving({}, 9)), 0);
  const std::string foreign = folder_ + "/foreign";
  std::filesystem::rename(checkpoint(9), foreign);
  std::filesystem::remove_all(run_folder());

  Settings settings = saving({}, 3);
  settings.emplace_back("checkpoint.keep_latest_k=1");
  ASSERT_EQ(train(settings), 0);
  std::filesystem::copy(foreign, checkpoint(9));
  settings.emplace_back("training.steps=5");
  EXPECT_EQ(train(settings), 0);
  expect_went_on_from(3);
  EXPECT_THAT(console_, HasSubstr("other runs"));
  EXPECT_THAT(whole_steps(), ElementsAre(9, 5));
}

TEST_F(CheckpointFailingRank, R062NoCheckpointOfARunThatLostItsNumbersReplacesAGoodOne) {
  Settings settings = saving(kDp2, 8);
  settings.emplace_back("checkpoint.keep_latest_k=1");
  settings.emplace_back("lr_scheduler.warmup_steps=0");
  Settings stops = settings;
  stops.emplace_back("optimizer.lr=1e30");
  EXPECT_EQ(train(stops), 1);
  EXPECT_THAT(last_line(console_), HasSubstr("step 2"));
  EXPECT_THAT(whole_steps(), ElementsAre(1));
  expect_finite(1);

  std::filesystem::remove_all(run_folder());
  stops.emplace_back("training.on_nonfinite=skip");
  stops.emplace_back("training.max_consecutive_skips=3");
  EXPECT_EQ(train(stops), 1);
  EXPECT_EQ(manifest(4).counters.skips_in_a_row, 3);
  EXPECT_EQ(manifest(4).counters.updates, 1);
  EXPECT_EQ(manifest(4).counters.samples, 4 * 8);
  EXPECT_THAT(whole_steps(), ElementsAre(4));
  expect_finite(4);
}

}  // namespace
}  // namespace brigade::end_to_end
