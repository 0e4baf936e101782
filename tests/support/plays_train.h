// SPDX-License-Identifier: Apache-2.0
/// PlaysTrain: a test program that is its own `brigade train`: started again with a variable set,
/// it runs ranks of the test's making instead of tests.
///
///   ::testing::Environment* const kPlayer =
///       ::testing::AddGlobalTestEnvironment(new testing::PlaysTrain(rank_of_the_test));
///   ... start "/proc/self/exe" with testing::kPlaysTrain in its environment
#pragma once

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tools/train/train.h"

namespace brigade::testing {

inline constexpr char kPlaysTrain[] = "BRIGADE_TEST_TRAIN";

class PlaysTrain : public ::testing::Environment {
 public:
  explicit PlaysTrain(train::RunRank rank) : rank_(std::move(rank)) {}

  /// After all static objects are there, before any test.
  void SetUp() override {
    if (std::getenv(kPlaysTrain) != nullptr) {
      const int code = train::train(own_command_line(), rank_, std::cout, std::cerr);
      std::cout.flush();
      _exit(code);
    }
  }

 private:
  static std::vector<std::string> own_command_line() {
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> arguments;
    for (std::string argument; std::getline(in, argument, '\0');) {
      arguments.push_back(argument);
    }
    return arguments;
  }

  const train::RunRank rank_;
};

}  // namespace brigade::testing
