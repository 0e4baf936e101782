// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/checkpoint_process.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/folder.h"

namespace brigade::end_to_end {

const Settings kDp2 = {"parallelism.data_parallel_shard_degree=2"};
const Settings kDp2Pp2 = {"parallelism.data_parallel_shard_degree=2",
                          "parallelism.pipeline_parallel_degree=2"};

Settings saving(Settings settings, int64_t steps) {
  settings.insert(settings.begin(),
                  {"checkpoint.enable=true",
                   "checkpoint.interval=1",
                   "lr_scheduler.total_steps=1000000",
                   "training.steps=" + std::to_string(steps)});
  return settings;
}

std::string CheckpointProcessTest::checkpoint(int64_t step) const {
  return checkpoint::step_path(folder(), step);
}

std::vector<int64_t> CheckpointProcessTest::steps() const {
  return value_or_throw(checkpoint::list_steps(folder()));
}

std::vector<int64_t> CheckpointProcessTest::whole_steps() const {
  const std::vector<int64_t> found = steps();
  for (const int64_t step : found) {
    const auto opened = checkpoint::Checkpoint::open(checkpoint(step));
    EXPECT_TRUE(opened) << opened.error().text;
    if (opened) {
      EXPECT_THAT((*opened)->verify(), ::testing::IsEmpty());
      EXPECT_EQ((*opened)->manifest().counters.step, step);
    }
  }
  return found;
}

checkpoint::Manifest CheckpointProcessTest::manifest(int64_t step) const {
  return value_or_throw(checkpoint::Checkpoint::open(checkpoint(step)))->manifest();
}

std::vector<std::string> CheckpointProcessTest::leftovers() const {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().filename().string().starts_with('.')) {
      paths.push_back(entry.path().string());
    }
  }
  return paths;
}

void CheckpointProcessTest::expect_went_on_from(int64_t step) const {
  EXPECT_THAT(console_, ::testing::HasSubstr("goes on from " + checkpoint(step) + ":"));
  int64_t next = 1;
  for (const nlohmann::json& record : records()) {
    EXPECT_EQ(record.at("step"), next++);
  }
  EXPECT_GE(next, step + 1);
}

int CheckpointProcessTest::train_with(const std::vector<testing::DiskRule>& rules,
                                      const Settings& settings) {
  environment_ = testing::failing_disk(rules);
  const int code = train(settings);
  environment_.clear();
  return code;
}

CheckpointProcessTest::Run CheckpointProcessTest::start_with(
    const std::vector<testing::DiskRule>& rules, const Settings& settings) {
  environment_ = testing::failing_disk(rules);
  Run run = start(settings);
  environment_.clear();
  return run;
}

std::vector<double> CheckpointProcessTest::losses() const {
  std::vector<double> found;
  for (const nlohmann::json& record : records()) {
    found.push_back(record.at("loss").get<double>());
  }
  return found;
}

}  // namespace brigade::end_to_end
