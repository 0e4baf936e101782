// SPDX-License-Identifier: Apache-2.0
// Law 10 at the command line: bad input ends before any rank starts, with one message and the code
// of the table in trainer/launch/exit_code.h; a full disk ends nothing.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/train_process.h"

namespace brigade::end_to_end {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kDp2[] = "parallelism.data_parallel_shard_degree=2";

class ProcessInput : public TrainProcessTest {
 protected:
  /// The code and the console of a command that trains nothing.
  int ask(const std::vector<std::string>& arguments) {
    const Run run = command(arguments);
    const int code = run->wait(20s).value_or(-1);
    console_ = run->console();
    EXPECT_TRUE(run->all_gone());
    return code;
  }

  void expect_refused(const Settings& settings, int code, const std::string& text) {
    EXPECT_EQ(train(settings), code);
    EXPECT_THAT(console_, HasSubstr(text));
    EXPECT_EQ(count_of("brigade", console_), 1) << console_;
    EXPECT_THAT(console_, Not(HasSubstr("starting ")));
    EXPECT_FALSE(std::filesystem::exists(run_folder()));
  }

  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  static Settings data(const std::string& path) {
    return {kDp2, "training.dataset=text", "training.dataset_path=" + path};
  }
};

TEST_F(ProcessInput, HelpOfEverythingSucceeds) {
  EXPECT_EQ(ask({"--help"}), 0);
  EXPECT_THAT(console_, HasSubstr("train"));
  EXPECT_EQ(ask({"train", "--help"}), 0);
  EXPECT_THAT(console_, HasSubstr("seq_len"));
}

TEST_F(ProcessInput, PrintConfigPrintsARecipeThatPrintsItself) {
  const std::string recipe = "--config=" + folder_ + "/recipe.toml";
  ASSERT_EQ(ask({"train", "--print-config", recipe, "training.steps=7"}), 0);
  EXPECT_THAT(console_, HasSubstr("\nsteps = 7\n"));
  const std::string printed = console_;
  ASSERT_EQ(ask({"train", "--print-config", "--config=" + file("printed.toml", printed)}), 0);
  EXPECT_EQ(console_, printed);
  EXPECT_FALSE(std::filesystem::exists(run_folder()));
}

TEST_F(ProcessInput, R093RefusesUnknownKeysWithTheNearestName) {
  EXPECT_EQ(train({kDp2, "training.stepz=3", "optimzer.lr=1"}), 2);
  EXPECT_THAT(
      console_,
      AllOf(
          HasSubstr("stepz"), HasSubstr("`steps`"), HasSubstr("optimzer"), HasSubstr("optimizer")));
  EXPECT_FALSE(std::filesystem::exists(run_folder()));
}

TEST_F(ProcessInput, RefusesABatchThatDoesNotDivide) {
  expect_refused({"parallelism.data_parallel_shard_degree=3"}, 2, "global 8 = microbatch 2 x m");
  EXPECT_THAT(console_, HasSubstr("nearest values: training.global_batch_size=6 or 12"));
}

TEST_F(ProcessInput, RefusesAMeshThatIsNotTheWorld) {
  expect_refused({"parallelism.data_parallel_shard_degree=-1",
                  "parallelism.tensor_parallel_degree=2",
                  "launch.ranks=3"},
                 2,
                 "pp 1 x dp_replicate 1 x tp 2 = 2 does not divide the world of 3 ranks");
  const Run rank = start_rank(
      1, 3, 4000, {"parallelism.data_parallel_shard_degree=2", "comm.init_timeout_seconds=1"});
  EXPECT_EQ(rank->wait(20s), 2);
  EXPECT_THAT(rank->console(),
              AllOf(HasSubstr("pp 1 x dp_replicate 1 x dp_shard 2 x tp 1 = 2"), HasSubstr("3")));
}

TEST_F(ProcessInput, RefusesDataThatIsNotThere) {
  expect_refused(data("/no/such/text"), 1, "/no/such/text");
}

TEST_F(ProcessInput, RefusesAFolderAsData) {
  expect_refused(data(folder_), 1, folder_);
}

TEST_F(ProcessInput, RefusesAnEmptyFile) {
  expect_refused(data(file("empty.txt", "")), 1, "empty.txt");
}

TEST_F(ProcessInput, RefusesAFileThatFillsNoSample) {
  expect_refused(data(file("small.txt", "sixteen letters.")), 1, "small.txt");
}

TEST_F(ProcessInput, RefusesAValidationPartThatFillsNoSample) {
  Settings settings = data(file("text.txt", std::string(200, 'a')));
  settings.insert(settings.end(), {"validation.enable=true", "validation.fraction=0.05"});
  expect_refused(settings, 1, "text.txt");
}

TEST_F(ProcessInput, RefusesDataWhoseIdsTheModelDoesNotHave) {
  expect_refused({kDp2, "model.vocab_size=97"}, 1, "model.vocab_size=256");
}

TEST_F(ProcessInput, RefusesARunFolderThatCannotBe) {
  file("run", "");  // a file in its place
  EXPECT_EQ(train({kDp2}), 1);
  EXPECT_THAT(console_, HasSubstr(run_folder()));
  EXPECT_EQ(count_of("brigade", console_), 1);
}

TEST_F(ProcessInput, AFullDiskIsSaidOnceAndTheRunGoesOn) {
  std::filesystem::create_directories(run_folder());
  for (const char* name : {"config.toml",
                           "versions.json",
                           "metrics.jsonl",
                           "validation.jsonl",
                           "rank_0.log",
                           "rank_1.log"}) {
    std::filesystem::create_symlink("/dev/full", run_folder() + "/" + name);
  }
  EXPECT_EQ(train({kDp2}), 0);
  EXPECT_EQ(count_of("No space left on device", console_), 1);
  EXPECT_EQ(count_of("\nstep: ", console_), 5);
}

TEST_F(ProcessInput, AFullDiskForOneRanksLogIsSaidOnceAndTheRunGoesOn) {
  std::filesystem::create_directories(run_folder());
  std::filesystem::create_symlink("/dev/full", run_folder() + "/rank_0.log");
  EXPECT_EQ(train({kDp2}), 0);
  EXPECT_EQ(count_of("No space left on device", console_), 1);
  EXPECT_EQ(records().size(), 5U);
}

}  // namespace
}  // namespace brigade::end_to_end
