// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/run_rank.h"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/trainer/checkpoint/temporary_folder.h"
#include "tests/trainer/loop/loopback_ranks.h"
#include "tests/trainer/loop/recipe.h"

namespace brigade::loop {
namespace {

using Settings = std::vector<std::string>;

config::RunConfig run_in(const TemporaryFolder& folder, Settings settings) {
  const std::string text = folder / "text";
  std::string bytes;
  for (int i = 0; i < 4001; ++i) {
    bytes.push_back(static_cast<char>('a' + i * i % 26));
  }
  write_file(text, bytes);
  settings.insert(settings.end(),
                  {"job.dump_folder=" + folder / "run",
                   "model.vocab_size=256",
                   "training.dataset=text",
                   "training.dataset_path=" + text,
                   "training.steps=4"});
  return recipe(settings);
}

std::vector<nlohmann::json> lines_of(const std::string& path) {
  std::vector<nlohmann::json> lines;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

/// What each rank of a world over loopback returned.
std::vector<Result<void>> run_world(const config::RunConfig& config, int size) {
  return run_loopback(size, [&](const launch::RankIdentity& who) -> Result<void> {
    const Result<launch::RunEnd> end = run_rank(config, who);
    return end ? Result<void>() : fail(end.error());
  });
}

TEST(RunRank, RecordsEveryStepOfARun) {
  const TemporaryFolder folder;
  ASSERT_TRUE(run_rank(run_in(folder, {}), {}));
  const std::vector<nlohmann::json> steps = lines_of(folder / "run/metrics.jsonl");
  ASSERT_EQ(steps.size(), 4U);
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].at("step"), i + 1);
    EXPECT_GT(steps[i].at("loss").get<double>(), 0.0);
    EXPECT_GT(steps[i].at("tensor_bytes").get<int64_t>(), 0);
    EXPECT_GT(steps[i].at("memory_bytes"), steps[i].at("tensor_bytes"));
  }
}

TEST(RunRank, R098RecordsOneLineAStepWithTheLossOfOneRankOnAPipeline) {
  const TemporaryFolder folder;
  ASSERT_TRUE(run_rank(run_in(folder, {}), {}));
  const std::vector<nlohmann::json> one = lines_of(folder / "run/metrics.jsonl");
  config::RunConfig pipeline = run_in(folder, {"parallelism.pipeline_parallel_degree=2"});
  pipeline.job.dump_folder = folder / "second";
  for (const Result<void>& result : run_world(pipeline, 2)) {
    ASSERT_TRUE(result) << result.error().text;
  }
  const std::vector<nlohmann::json> two = lines_of(folder / "second/metrics.jsonl");
  ASSERT_EQ(two.size(), one.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(two[i].at("loss").get<double>(), one[i].at("loss").get<double>(), 1e-5);
    EXPECT_NEAR(two[i].at("grad_norm").get<double>(), one[i].at("grad_norm").get<double>(), 1e-5);
  }
}

TEST(RunRank, ReturnsTheErrorOfItsData) {
  const TemporaryFolder folder;
  config::RunConfig config = run_in(folder, {});
  config.training.dataset_path = folder / "absent";
  const Result<launch::RunEnd> result = run_rank(config, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kIo);
}

TEST(RunRank, ReturnsOnAllRanksWhyTheyCannotTrain) {
  const TemporaryFolder folder;
  config::RunConfig config = run_in(folder, {"parallelism.pipeline_parallel_degree=2"});
  config.model.vocab_size = 96;  // a byte can be more
  for (const Result<void>& result : run_world(config, 2)) {
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().text.find("set model.vocab_size=256"), std::string::npos)
        << result.error().text;
  }
}

}  // namespace
}  // namespace brigade::loop
