// SPDX-License-Identifier: Apache-2.0
// What saving and going on (R045) take beside what a rank holds anyway. The ranks are this test
// program again: with BRIGADE_TEST_TRAIN set it loads or saves as `brigade train` does, and writes
// down what that took as the kernel counts it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include <gmock/gmock.h>

#include "tests/end_to_end/train_process.h"
#include "tests/support/plays_train.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/loop/checkpoints.h"
#include "trainer/loop/rank_work.h"
#include "trainer/loop/resume.h"
#include "trainer/loop/trainer.h"
#include "trainer/metrics/memory.h"

namespace brigade::end_to_end {
namespace {

using namespace std::chrono_literals;

constexpr int kRanks = 4;
constexpr int64_t kMiB = 1 << 20;

/// The peak is what it is now.
void forget_the_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

/// Bytes that this process has asked the kernel to read.
int64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string name;
  int64_t bytes = 0;
  io >> name >> bytes;  // "rchar: 123"
  return bytes;
}

class MeasuredLoad final : public loop::RankWork {
 public:
  explicit MeasuredLoad(const config::RunConfig& config) : config_(config) {}

  Result<void> run(collective::World& world, const data::Sources& sources) override {
    auto resume = loop::Resume::choose(world, config_, *sources.training);
    if (!resume) {
      return fail(resume.error());
    }
    trainer_ = value_or_throw(loop::Trainer::create(world,
                                                    {.config = config_,
                                                     .training = sources.training,
                                                     .validation = sources.validation,
                                                     .matmul = resume->matmul()}));
    const int64_t read_before = bytes_read();
    forget_the_peak();
    const int64_t before = metrics::resident_bytes();
    if (Result<void> loaded = resume->load(*trainer_); !loaded) {
      return loaded;
    }
    std::ofstream(config_.job.dump_folder + "/loaded_" + std::to_string(world.rank()))
        << resume->step() << ' ' << metrics::peak_resident_bytes() - before << ' '
        << bytes_read() - read_before;
    return {};
  }

 private:
  const config::RunConfig& config_;
  std::unique_ptr<loop::Trainer> trainer_;
};

class MeasuredSave final : public loop::RankWork {
 public:
  explicit MeasuredSave(const config::RunConfig& config) : config_(config) {}

  Result<void> run(collective::World& world, const data::Sources& sources) override {
    checkpoints_ = value_or_throw(loop::Checkpoints::open(world, config_, *sources.training));
    trainer_ = value_or_throw(loop::Trainer::create(
        world,
        {.config = config_, .training = sources.training, .validation = sources.validation}));
    value_or_throw(checkpoints_->load(*trainer_, {}));
    value_or_throw(trainer_->step());
    int64_t largest = 0;
    int64_t state = 0;
    for (const checkpoint::StateBox& box : trainer_->boxes_to_write(/*model_only=*/false)) {
      largest = std::max(largest, static_cast<int64_t>(box.bytes.size()));
      state += static_cast<int64_t>(box.bytes.size());
    }
    forget_the_peak();
    const int64_t before = metrics::resident_bytes();
    value_or_throw(checkpoints_->after_step(/*ends=*/false));
    value_or_throw(checkpoints_->finish());
    std::ofstream(config_.job.dump_folder + "/saved_" + std::to_string(world.rank()))
        << metrics::peak_resident_bytes() - before << ' ' << largest << ' ' << state;
    return {};
  }

 private:
  const config::RunConfig& config_;
  std::unique_ptr<loop::Trainer> trainer_;
  std::unique_ptr<loop::Checkpoints> checkpoints_;
};

Result<launch::RunEnd> measured_rank(const config::RunConfig& config,
                                     const launch::RankIdentity& who) {
  std::unique_ptr<loop::RankWork> work = std::make_unique<MeasuredLoad>(config);
  if (config.job.description == "save") {
    work = std::make_unique<MeasuredSave>(config);
  }
  return launch::finished(loop::with_world(config, who, std::move(work)));
}

::testing::Environment* const kPlayer =
    ::testing::AddGlobalTestEnvironment(new testing::PlaysTrain(measured_rank));

struct Loaded {
  int64_t step = 0;
  int64_t extra_bytes = 0;
  int64_t read_bytes = 0;
};

class CheckpointMemory : public TrainProcessTest {
 protected:
  /// Three numbers per parameter, 64 MiB in all.
  static Settings on(const std::string& mesh, int64_t steps) {
    return {"model.dim=256",
            "model.n_layers=7",
            "model.ffn_dim=688",
            mesh,
            "parallelism.zero_stage=3",
            "checkpoint.enable=true",
            "checkpoint.interval=1",
            "training.steps=" + std::to_string(steps)};
  }

  std::vector<Loaded> load(const Settings& settings) {
    program_ = "/proc/self/exe";
    environment_[testing::kPlaysTrain] = "1";
    EXPECT_EQ(train(settings), 0);
    std::vector<Loaded> ranks(kRanks);
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      std::ifstream(run_folder() + "/loaded_" + std::to_string(rank)) >> ranks[rank].step >>
          ranks[rank].extra_bytes >> ranks[rank].read_bytes;
    }
    return ranks;
  }

  struct Saved {
    int64_t extra_bytes = 0;
    int64_t largest_box = 0;
    int64_t state = 0;
  };

  std::vector<Saved> save(Settings settings) {
    program_ = "/proc/self/exe";
    environment_[testing::kPlaysTrain] = "1";
    settings.emplace_back("job.description=save");
    EXPECT_EQ(train(settings), 0);
    std::vector<Saved> ranks(kRanks);
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      std::ifstream(run_folder() + "/saved_" + std::to_string(rank)) >> ranks[rank].extra_bytes >>
          ranks[rank].largest_box >> ranks[rank].state;
    }
    return ranks;
  }

  int64_t checkpoint_bytes() const {
    int64_t bytes = 0;
    for (const auto& file :
         value_or_throw(checkpoint::Checkpoint::open(run_folder() + "/checkpoint/step-1"))
             ->manifest()
             .files) {
      bytes += static_cast<int64_t>(file.bytes);
    }
    return bytes;
  }
};

TEST_F(CheckpointMemory, R045TakesAShareAndABucketAndReadsEachByteOnce) {
  const std::string mesh = "parallelism.data_parallel_shard_degree=4";
  ASSERT_EQ(train(on(mesh, 1)), 0);
  const int64_t whole = checkpoint_bytes();
  ASSERT_NEAR(static_cast<double>(whole), 64.0 * kMiB, 2.0 * kMiB);
  // The largest unit is a block: 4 x 256 x 256 and 3 x 256 x 688 numbers.
  const int64_t bucket = 4 * (4 * 256 * 256 + 3 * 256 * 688);
  int64_t read = 0;
  for (const Loaded& rank : load(on(mesh, 2))) {
    EXPECT_EQ(rank.step, 1);
    EXPECT_LE(rank.extra_bytes, whole / kRanks + bucket + 8 * kMiB);
    read += rank.read_bytes;
  }
  EXPECT_GE(read, whole);
  EXPECT_LE(read, whole + whole / 5);
}

TEST_F(CheckpointMemory, R045HoldsOnAnotherMeshToo) {
  ASSERT_EQ(train(on("parallelism.tensor_parallel_degree=4", 1)), 0);
  const int64_t whole = checkpoint_bytes();
  const int64_t bucket = 4 * (4 * 256 * 256 + 3 * 256 * 688);
  for (const Loaded& rank : load(on("parallelism.data_parallel_shard_degree=4", 2))) {
    EXPECT_EQ(rank.step, 1);
    EXPECT_LE(rank.extra_bytes, whole / kRanks + bucket + 8 * kMiB);
  }
}

TEST_F(CheckpointMemory, SavingTakesABoxAtMostAndInTheBackgroundACopyOfTheState) {
  for (const std::string zero : {"0", "3"}) {
    for (const std::string mode : {"disabled", "async"}) {
      SCOPED_TRACE(mode + ", ZeRO " + zero);
      Settings settings = on("parallelism.data_parallel_shard_degree=4", 2);
      settings.emplace_back("parallelism.zero_stage=" + zero);
      settings.emplace_back("checkpoint.async_mode=" + mode);
      for (const Saved& rank : save(settings)) {
        EXPECT_GT(rank.state, 8 * kMiB);
        const int64_t copied = mode == "async" ? rank.state : rank.largest_box;
        EXPECT_LE(rank.extra_bytes, copied + 8 * kMiB);
      }
      std::filesystem::remove_all(run_folder());
    }
  }
}

}  // namespace
}  // namespace brigade::end_to_end
