// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/train_process.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>
#include <utility>

#include "trainer/launch/spawn.h"

namespace brigade::end_to_end {
namespace {

using namespace std::chrono_literals;

constexpr char kRecipe[] = R"(
[model]
name = "llama3"
dim = 32
n_layers = 4
n_heads = 4
n_kv_heads = 4
ffn_dim = 64
vocab_size = 256

[training]
dataset = "synthetic"
seq_len = 16
global_batch_size = 8
microbatch_size = 2
steps = 5
matmul = "libtorch"

[lr_scheduler]
warmup_steps = 2

[metrics]
log_freq = 1

[parallelism]
data_parallel_shard_degree = 1
)";

}  // namespace

void TrainProcessTest::SetUp() {
  folder_ = ::testing::TempDir() + "train_process_" + std::to_string(getpid());
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ + "/recipe.toml") << kRecipe;
}

void TrainProcessTest::TearDown() {
  if (HasFailure()) {
    std::cerr << "the last console:\n" << console_ << '\n';
  }
  std::filesystem::remove_all(folder_);
}

TrainProcessTest::Run TrainProcessTest::command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program_);
  return std::make_unique<testing::CommandRun>(
      testing::CommandOptions{.command = std::move(arguments),
                              .environment = environment_,
                              .console = folder_ + "/console_" + std::to_string(consoles_++)});
}

std::vector<std::string> TrainProcessTest::arguments(std::vector<std::string> words,
                                                     const Settings& settings) const {
  words.push_back("--config=" + folder_ + "/recipe.toml");
  words.push_back("job.dump_folder=" + run_folder());
  words.insert(words.end(), settings.begin(), settings.end());
  return words;
}

TrainProcessTest::Run TrainProcessTest::start(const Settings& settings) {
  return command(arguments({"train"}, settings));
}

TrainProcessTest::Run TrainProcessTest::start_rank(int rank,
                                                   int world,
                                                   int port,
                                                   const Settings& settings,
                                                   const std::vector<std::string>& words) {
  std::vector<std::string> line = arguments(words, settings);
  line.insert(line.begin(), program_);
  std::map<std::string, std::string> environment = {{"RANK", std::to_string(rank)},
                                                    {"WORLD_SIZE", std::to_string(world)},
                                                    {"MASTER_ADDR", "127.0.0.1"},
                                                    {"MASTER_PORT", std::to_string(port)}};
  environment.insert(environment_.begin(), environment_.end());
  return std::make_unique<testing::CommandRun>(
      testing::CommandOptions{.command = std::move(line),
                              .environment = std::move(environment),
                              .console = folder_ + "/console_" + std::to_string(consoles_++)});
}

int TrainProcessTest::free_port() {
  return value_or_throw(launch::free_loopback_port());
}

int TrainProcessTest::train(const Settings& settings) {
  const Run run = start(settings);
  const int code = run->wait(60s).value_or(-1);
  console_ = run->console();
  EXPECT_TRUE(run->all_gone());
  return code;
}

bool TrainProcessTest::reaches(const Run& run, size_t steps) const {
  return testing::comes_true([&] { return run->wait(0s) || records().size() >= steps; }) &&
         !run->wait(0s);
}

std::string TrainProcessTest::text_of(const std::string& path) const {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<nlohmann::json> TrainProcessTest::records() const {
  std::istringstream lines(text_of(run_folder() + "/metrics.jsonl"));
  std::vector<nlohmann::json> found;
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_discarded()) {
      found.push_back(std::move(record));
    }
  }
  return found;
}

void ProcessCurveTest::SetUp() {
  TrainProcessTest::SetUp();
  ASSERT_EQ(train({}), 0);
  wanted_ = records();
  ASSERT_EQ(wanted_.size(), 5U);
  std::filesystem::remove_all(run_folder());
}

void ProcessCurveTest::expect_the_same_curve() const {
  const auto number = [](const nlohmann::json& record, const char* key) {
    return record.at(key).get<double>();
  };
  const std::vector<nlohmann::json> found = records();
  ASSERT_EQ(found.size(), wanted_.size());
  for (size_t i = 0; i < wanted_.size(); ++i) {
    EXPECT_EQ(found[i]["step"], wanted_[i]["step"]);
    EXPECT_NEAR(number(found[i], "loss"), number(wanted_[i], "loss"), 1e-5) << "step " << i + 1;
    const double norm = number(wanted_[i], "grad_norm");
    EXPECT_NEAR(number(found[i], "grad_norm"), norm, 1e-5 * norm) << "step " << i + 1;
  }
}

Settings endless(Settings settings) {
  settings.emplace_back("training.steps=1000000");
  return settings;
}

int64_t count_of(const std::string& part, const std::string& text) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    last = line.empty() ? last : line;
  }
  return last;
}

}  // namespace brigade::end_to_end
