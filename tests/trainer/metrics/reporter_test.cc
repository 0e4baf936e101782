// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/reporter.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/config/load.h"

namespace brigade::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ReporterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "reporter_" + std::to_string(getpid());
    config_.job.dump_folder = folder_ + "/run";
    config_.training.dataset = "synthetic";
    config_.training.steps = 25;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Reporter> open(int rank = 0, bool terminal = false, int64_t resumed_step = 0) {
    Result<std::unique_ptr<Reporter>> reporter =
        Reporter::open(config_, {rank, &console_, terminal, {{"brigade", "test"}}, resumed_step});
    EXPECT_TRUE(reporter) << (reporter ? "" : reporter.error().text);
    return std::move(*reporter);
  }

  void run_steps(Reporter& reporter, int64_t first = 1) {
    for (int64_t step = first; step <= config_.training.steps; ++step) {
      reporter.step({.step = step,
                     .loss = 5.0 - 0.1 * static_cast<double>(step),
                     .grad_norm = 1,
                     .lr = 1e-3,
                     .tokens_per_s = 100,
                     .step_ms = 10,
                     .memory_bytes = 1 << 20,
                     .time = 1});
    }
  }

  std::string file(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(config_.job.dump_folder + '/' + name).rdbuf();
    return text.str();
  }

  static int64_t count(const std::string& text, const std::string& part) {
    int64_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++found;
    }
    return found;
  }

  std::string folder_;
  config::RunConfig config_;
  std::ostringstream console_;
};

TEST_F(ReporterTest, PrintsTheFirstEveryTenthAndTheLastStep) {
  run_steps(*open());
  const std::string text = console_.str();
  EXPECT_EQ(count(text, "step: "), 4);
  for (const char* step : {"step:  1/25", "step: 10/25", "step: 20/25", "step: 25/25"}) {
    EXPECT_THAT(text, HasSubstr(step));
  }
  EXPECT_THAT(text, HasSubstr("left: 0:00:00\n"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST_F(ReporterTest, WritesOneObjectPerStep) {
  run_steps(*open());
  EXPECT_EQ(count(file("metrics.jsonl"), "\n"), 25);
  EXPECT_THAT(file("metrics.jsonl"), HasSubstr("{\"step\": 25, \"loss\": 2.5, "));
}

TEST_F(ReporterTest, KeepsTheConfigAndTheVersions) {
  config_.job.save_config_file = folder_ + "/copy.toml";
  open();
  const Result<config::RunConfig> again = config::load(config_path(config_.job.dump_folder), {});
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(*again, config_);
  EXPECT_TRUE(config::load(*config_.job.save_config_file, {}));
  EXPECT_EQ(file("versions.json"), "{\n  \"brigade\": \"test\"\n}\n");
  EXPECT_EQ(base_versions().count("compiler"), 1);
}

TEST_F(ReporterTest, R100OtherRanksHaveALogAndNothingElse) {
  const std::unique_ptr<Reporter> reporter = open(3);
  run_steps(*reporter);
  reporter->log().warn("a peer is slow");
  EXPECT_EQ(console_.str(), "");
  EXPECT_FALSE(std::filesystem::exists(metrics_path(config_.job.dump_folder)));
  EXPECT_THAT(file("rank_3.log"), HasSubstr(" [rank 3] info: step: 10/25"));
  EXPECT_THAT(file("rank_3.log"), HasSubstr(" [rank 3] warning: a peer is slow\n"));
}

TEST_F(ReporterTest, DrawsColourAndBarOnATerminalAlone) {
  run_steps(*open(0, true));
  EXPECT_THAT(console_.str(), HasSubstr("\033[32mloss: 4.90000\033[0m"));
  EXPECT_THAT(console_.str(), HasSubstr("\r\033[K[####"));
  EXPECT_THAT(file("rank_0.log"), Not(HasSubstr("\033")));
  console_.str("");
  config_.metrics.disable_color_printing = true;
  run_steps(*open(0, true));
  EXPECT_THAT(console_.str(), Not(HasSubstr("\033[32m")));
}

TEST_F(ReporterTest, SumsUpAtTheEnd) {
  const std::unique_ptr<Reporter> reporter = open();
  run_steps(*reporter);
  reporter->step({.step = 25, .loss = std::numeric_limits<double>::quiet_NaN(), .skipped = true});
  reporter->validation({.step = 25, .loss = 1.3862943611198906, .time = 3});
  reporter->finish({.steps = 25,
                    .tokens = 51200,
                    .seconds = 62.0,
                    .next_command = "brigade train --config=next.toml"});
  const std::string text = console_.str();
  EXPECT_THAT(text, HasSubstr("done: 25 steps, 51,200 tokens in 0:01:02 (826 tokens/s)\n"));
  EXPECT_THAT(text, HasSubstr("best loss: 2.50000 at step 25\n"));
  EXPECT_THAT(text, HasSubstr("best validation: step 25  loss: 1.38629  bits per byte: 2.0000"));
  EXPECT_THAT(text, HasSubstr("skipped: 1 steps"));
  EXPECT_THAT(text, HasSubstr("/run/metrics.jsonl\n"));
  EXPECT_THAT(text, HasSubstr("next:    brigade train --config=next.toml\n"));
  EXPECT_EQ(count(file("validation.jsonl"), "\n"), 1);
}

TEST_F(ReporterTest, GoesOnWithAFullDiskAndWarnsOnce) {
  std::filesystem::create_directories(config_.job.dump_folder);
  for (const char* name : {"metrics.jsonl", "validation.jsonl", "rank_0.log", "config.toml"}) {
    std::filesystem::create_symlink("/dev/full", config_.job.dump_folder + '/' + name);
  }
  const std::unique_ptr<Reporter> reporter = open();
  run_steps(*reporter);
  reporter->finish({.steps = 25, .tokens = 1, .seconds = 1});
  EXPECT_EQ(count(console_.str(), "warning: could not write"), 1);
  EXPECT_THAT(console_.str(), HasSubstr("No space left on device"));
  EXPECT_EQ(count(console_.str(), "step: "), 4);
  EXPECT_THAT(console_.str(), HasSubstr("done: 25 steps"));
}

TEST_F(ReporterTest, RefusesAFolderThatCannotBe) {
  std::filesystem::create_directories(folder_);
  std::ofstream(config_.job.dump_folder) << "a file";
  const Result<std::unique_ptr<Reporter>> reporter = Reporter::open(config_, {});
  ASSERT_FALSE(reporter);
  EXPECT_EQ(reporter.error().code, ErrorCode::kIo);
  EXPECT_THAT(reporter.error().text, HasSubstr("job.dump_folder"));
}

TEST_F(ReporterTest, KeepsTheRecordsUpToTheStepThatItGoesOnFrom) {
  {
    const std::unique_ptr<Reporter> first = open();
    run_steps(*first);
    first->validation({.step = 10, .loss = 3, .time = 1});
    first->validation({.step = 20, .loss = 2, .time = 2});
  }
  const std::string once = file("metrics.jsonl");
  console_.str("");
  const std::unique_ptr<Reporter> second = open(0, false, 12);
  EXPECT_EQ(count(file("metrics.jsonl"), "\n"), 12);
  EXPECT_EQ(count(file("validation.jsonl"), "\n"), 1);
  run_steps(*second, 13);
  second->validation({.step = 20, .loss = 2, .time = 2});
  EXPECT_EQ(file("metrics.jsonl"), once);
  EXPECT_EQ(count(file("validation.jsonl"), "\n"), 2);
  EXPECT_THAT(console_.str(), HasSubstr("step: 13/25"));  // its first
  EXPECT_THAT(console_.str(), Not(HasSubstr("step: 14/25")));
}

TEST_F(ReporterTest, AppendsToTheLogsOfARunThatGoesOn) {
  run_steps(*open());
  run_steps(*open(0, false, 12), 13);
  EXPECT_EQ(count(file("rank_0.log"), "step:  1/25"), 1);
  EXPECT_EQ(count(file("rank_0.log"), "step: 25/25"), 2);
  EXPECT_THAT(file("rank_0.log"), HasSubstr("info: the run goes on from step 12\n"));
  open(1, false, 12);
  EXPECT_THAT(file("rank_1.log"), HasSubstr("[rank 1] info: the run goes on from step 12\n"));
  run_steps(*open());
  EXPECT_EQ(count(file("rank_0.log"), "step: 25/25"), 1);
}

TEST_F(ReporterTest, SumsUpWhatStoppedEarly) {
  open()->finish({.steps = 7,
                  .tokens = 10,
                  .seconds = 1,
                  .next_command = "",
                  .stopped_early = true,
                  .checkpoint = "run/checkpoint/step-7"});
  EXPECT_THAT(console_.str(), HasSubstr("stopped early: 7 steps, 10 tokens in"));
  EXPECT_THAT(console_.str(), HasSubstr("\ncheckpoint: run/checkpoint/step-7\n"));
}

TEST_F(ReporterTest, TheStopFileIsThereUntilItIsTaken) {
  const std::string run = config_.job.dump_folder;
  std::filesystem::create_directories(run);
  EXPECT_FALSE(stop_file_is_there(run));
  EXPECT_TRUE(take_stop_file(run));
  std::ofstream{stop_file_path(run)};
  EXPECT_TRUE(stop_file_is_there(run));
  EXPECT_TRUE(take_stop_file(run));
  EXPECT_FALSE(stop_file_is_there(run));
}

TEST_F(ReporterTest, SaysWhenTheStopFileStays) {
  const std::string run = config_.job.dump_folder;
  std::filesystem::create_directories(stop_file_path(run) + "/full");
  EXPECT_TRUE(stop_file_is_there(run));
  const Result<void> taken = take_stop_file(run);
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().text, HasSubstr("will stop the next run too"));
  EXPECT_THAT(taken.error().text, HasSubstr(stop_file_path(run)));
}

}  // namespace
}  // namespace brigade::metrics
