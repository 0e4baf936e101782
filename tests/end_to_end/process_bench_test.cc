// SPDX-License-Identifier: Apache-2.0
// `brigade bench step` from outside: one JSON line whose losses are those of `brigade train`.
#include <cmath>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/train_process.h"

namespace brigade::end_to_end {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ProcessBench : public TrainProcessTest {
 protected:
  nlohmann::json bench(const Settings& settings) {
    std::vector<std::string> arguments = {"bench", "step", "--config=" + folder_ + "/recipe.toml"};
    arguments.insert(arguments.end(), settings.begin(), settings.end());
    const Run run = command(arguments);
    EXPECT_EQ(run->wait(60s), 0) << run->console();
    return nlohmann::json::parse(last_line(run->console()));
  }
};

TEST_F(ProcessBench, PrintsTheLossesThatTrainingPrints) {
  ASSERT_EQ(train({}), 0);
  const std::vector<nlohmann::json> trained = records();
  for (const char* ranks : {"1", "2"}) {
    const nlohmann::json line =
        bench({"parallelism.data_parallel_shard_degree=-1", std::string("launch.ranks=") + ranks});
    EXPECT_EQ(line["ranks"], std::stoi(ranks));
    EXPECT_EQ(line["peak_rss_mb_per_rank"].size(), static_cast<size_t>(std::stoi(ranks)));
    EXPECT_GT(line["step_ms_median"].get<double>(), 0.0);
    for (size_t step = 0; step < 5; ++step) {
      EXPECT_NEAR(line["losses"][step].get<double>(), trained[step]["loss"].get<double>(), 1e-5);
    }
  }
}

TEST_F(ProcessBench, R049ARankThatFailsIsNamedByAll) {
  const int port = free_port();
  const auto rank = [&](int number, const std::string& text) {
    return start_rank(number,
                      2,
                      port,
                      {"parallelism.data_parallel_shard_degree=2",
                       "training.steps=1000000",
                       "training.dataset=text",
                       "training.dataset_path=" + text},
                      {"bench", "step"});
  };
  const std::string text = folder_ + "/text";
  std::ofstream(text) << std::string(100'000, 'a');
  const Run first = rank(0, text);
  const Run second = rank(1, folder_ + "/absent");
  for (const Run* run : {&first, &second}) {
    EXPECT_EQ((*run)->wait(20s), 1) << (*run)->console();
    EXPECT_THAT(last_line((*run)->console()), StartsWith("brigade: rank 1 of 2 failed: "));
    EXPECT_THAT(last_line((*run)->console()), HasSubstr("/absent"));
  }
}

TEST_F(ProcessBench, RefusesAnUnknownBenchmark) {
  const Run run = command({"bench", "stpe"});
  EXPECT_EQ(run->wait(20s), 2);
  EXPECT_EQ(count_of("usage: brigade bench step", run->console()), 1);
}

}  // namespace
}  // namespace brigade::end_to_end
