// SPDX-License-Identifier: Apache-2.0
// Ranks that train() starts are this test program again: with BRIGADE_TEST_TRAIN set, kPlayer below
// runs train() with a rank of its own instead of the tests.
#include "tools/train/train.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/plays_train.h"

namespace brigade::train {
namespace {

using ::testing::HasSubstr;

Result<launch::RunEnd> fake_rank(const config::RunConfig& config, const launch::RankIdentity& who) {
  std::cout << "rank " << who.rank << " of " << who.world_size << " trains "
            << config.training.steps << " steps\n";
  if (config.job.description == "fails" && who.rank == who.world_size - 1) {
    throw Exception({ErrorCode::kNonFinite, "the loss is NaN at step 3", -1});
  }
  return config.job.description == "stops" ? launch::RunEnd::kStoppedEarly
                                           : launch::RunEnd::kFinished;
}

::testing::Environment* const kPlayer =
    ::testing::AddGlobalTestEnvironment(new testing::PlaysTrain(fake_rank));

class TrainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "train_" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    unsetenv(testing::kPlaysTrain);
    std::filesystem::remove_all(folder_);
  }

  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"brigade", "train"});
    arguments.push_back("job.dump_folder=" + folder_ + "/run");
    setenv(testing::kPlaysTrain, "1", 1);
    const int code = train(arguments, fake_rank, out_, err_);
    unsetenv(testing::kPlaysTrain);
    return code;
  }

  std::string log(int rank) const {
    std::ostringstream text;
    text << std::ifstream(folder_ + "/run/rank_" + std::to_string(rank) + ".log").rdbuf();
    return text.str();
  }

  std::string folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(TrainTest, HelpShowsFlagsAndKeys) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("usage: brigade train --config=FILE"));
  EXPECT_THAT(out_.str(), HasSubstr("--print-config"));
  EXPECT_THAT(out_.str(), HasSubstr("seq_len (integer, 2048)"));
  EXPECT_THAT(out_.str(), HasSubstr("75 stopped early with a checkpoint"));
}

TEST_F(TrainTest, PrintConfigPrintsTheMergedRecipe) {
  std::ofstream(folder_ + "/r.toml") << "[training]\nsteps = 7\ndataset = \"synthetic\"\n";
  EXPECT_EQ(run({"--print-config", "--config=" + folder_ + "/r.toml", "training.seq_len=64"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("\nseq_len = 64\n"));
  EXPECT_THAT(out_.str(), HasSubstr("\nsteps = 7\n"));
}

TEST_F(TrainTest, R093RefusesABadConfigBeforeAnyRankStarts) {
  EXPECT_EQ(run({"training.dataset=synthetic", "optimizer.learning_rte=1", "launch.ranks=2"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("unknown key `learning_rte`"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/run"));
}

TEST_F(TrainTest, RefusesWhatTheRanksCannotFormBeforeAnyStarts) {
  EXPECT_EQ(run({"training.dataset=synthetic",
                 "parallelism.tensor_parallel_degree=3",
                 "parallelism.data_parallel_shard_degree=1"}),
            2);
  EXPECT_THAT(err_.str(), HasSubstr("cannot be split over tp=3"));
  EXPECT_EQ(run({"--config=/no/such.toml"}), 2);
}

TEST_F(TrainTest, RefusesDataThatCannotBeReadBeforeAnyRankStarts) {
  EXPECT_EQ(run({"training.dataset=text", "training.dataset_path=/no/such", "launch.ranks=2"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("brigade train: training data /no/such: cannot be opened"));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(TrainTest, OneRankRunsInThisProcess) {
  EXPECT_EQ(run({"training.dataset=synthetic"}), 0);
  EXPECT_EQ(run({"training.dataset=synthetic", "job.description=fails"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("brigade: rank 0 of 1 failed: the loss is NaN at step 3"));
}

TEST_F(TrainTest, ReturnsThatTheRunStoppedEarly) {
  EXPECT_EQ(run({"training.dataset=synthetic", "job.description=stops"}), 75);
  EXPECT_EQ(run({"training.dataset=synthetic", "job.description=stops", "launch.ranks=2"}), 75);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(TrainTest, KeepsTheLogsOfARunThatGoesOn) {
  const auto starts = [&] {
    EXPECT_EQ(run({"training.dataset=synthetic", "launch.ranks=2", "checkpoint.enable=true"}), 0);
    std::istringstream lines(log(1));
    int count = 0;
    for (std::string line; std::getline(lines, line);) {
      count += line.starts_with("rank 1 of 2 trains") ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(starts(), 1);
  EXPECT_EQ(starts(), 1);  // it left no checkpoint: begun anew
  std::filesystem::create_directories(folder_ + "/run/checkpoint/step-3");
  EXPECT_EQ(starts(), 2);
}

TEST_F(TrainTest, StartsTheProductOfTheDegrees) {
  EXPECT_EQ(run({"training.dataset=synthetic",
                 "training.steps=9",
                 "parallelism.data_parallel_shard_degree=2",
                 "parallelism.pipeline_parallel_degree=2"}),
            0);
  EXPECT_THAT(out_.str(), HasSubstr("starting 4 ranks on this machine, told by the product"));
  EXPECT_THAT(log(3), HasSubstr("rank 3 of 4 trains 9 steps"));
}

TEST_F(TrainTest, R049PrintsTheFailingRanksWordsLastAndOnce) {
  EXPECT_EQ(run({"training.dataset=synthetic", "launch.ranks=3", "job.description=fails"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("starting 3 ranks on this machine, told by launch.ranks"));
  EXPECT_THAT(err_.str(), HasSubstr("brigade: rank 2 of 3 failed: the loss is NaN at step 3"));
}

TEST_F(TrainTest, IsOneRankWhereALauncherSaysSo) {
  EXPECT_EQ(run({"training.dataset=synthetic", "--rank=0", "--world-size=2"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("MASTER_ADDR and MASTER_PORT are missing"));
  EXPECT_EQ(run({"training.dataset=synthetic",
                 "--rank=1",
                 "--world-size=2",
                 "--master-addr=127.0.0.1",
                 "--master-port=4000"}),
            0);
}

}  // namespace
}  // namespace brigade::train
