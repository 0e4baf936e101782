// SPDX-License-Identifier: Apache-2.0
/// `brigade train` as a user starts it: a program, its ranks, its console, its run folder.
///
///   class MeshTest : public TrainProcessTest {};
///   TEST_F(MeshTest, SplitsTheModel) {
///     auto run = start({"parallelism.tensor_parallel_degree=2"});
///     ...
///   }
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/command_run.h"

namespace brigade::end_to_end {

using Settings = std::vector<std::string>;  // section.key=value, later ones win

/// Makes a folder per test, with a recipe of Model P in it: 4 layers of 4 key-value heads on
/// synthetic data, batch 8 in microbatches of 2, 5 steps.
class TrainProcessTest : public ::testing::Test {
 protected:
  using Run = std::unique_ptr<testing::CommandRun>;

  void SetUp() override;
  void TearDown() override;

  /// `brigade ARGUMENTS...`.
  Run command(std::vector<std::string> arguments);

  /// `brigade train` on the recipe; the run folder is run_folder().
  Run start(const Settings& settings);

  /// The same as one rank of a world that a launcher of the test's own starts; `words` may be
  /// another command.
  Run start_rank(int rank,
                 int world,
                 int port,
                 const Settings& settings,
                 const std::vector<std::string>& words = {"train"});

  /// A port of loopback that nobody listened on a moment ago.
  static int free_port();

  /// Starts and waits: the exit code, -1 when it does not end. The console is in console_.
  int train(const Settings& settings);

  /// Waits until `steps` steps are recorded and the run still goes on.
  bool reaches(const Run& run, size_t steps) const;

  std::string run_folder() const { return folder_ + "/run"; }
  std::string text_of(const std::string& path) const;
  /// The objects of metrics.jsonl, those that are whole.
  std::vector<nlohmann::json> records() const;

  std::string program_ = BRIGADE_EXECUTABLE;        // what command() runs
  std::map<std::string, std::string> environment_;  // in which it runs, over the test's own
  std::string folder_;
  std::string console_;

 private:
  std::vector<std::string> arguments(std::vector<std::string> words,
                                     const Settings& settings) const;

  int consoles_ = 0;
};

/// Has the curve of one rank on that recipe.
class ProcessCurveTest : public TrainProcessTest {
 protected:
  void SetUp() override;

  /// Law 1, of the run folder's records.
  void expect_the_same_curve() const;

  std::vector<nlohmann::json> wanted_;
};

/// Settings that never end by themselves.
Settings endless(Settings settings);

/// How often `part` is in `text`.
int64_t count_of(const std::string& part, const std::string& text);

/// The last line that is not empty.
std::string last_line(const std::string& text);

}  // namespace brigade::end_to_end
