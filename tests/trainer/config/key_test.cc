// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/key.h"

#include <gtest/gtest.h>

namespace brigade::config {
namespace {

TEST(Key, TakesTypeAndDefaultFromItsField) {
  const Section training("training", &RunConfig::training);
  const Key steps = training("steps", &Training::steps, "help").at_least(1);
  EXPECT_EQ(steps.full_name(), "training.steps");
  EXPECT_EQ(steps.kind, Kind::kInteger);
  EXPECT_EQ(steps.fallback, Value(int64_t{10000}));
  const Key path = training("dataset_path", &Training::dataset_path, "help");
  EXPECT_EQ(path.kind, Kind::kString);
  EXPECT_TRUE(path.optional());
}

TEST(Key, WritesAndReadsItsField) {
  const Section training("training", &RunConfig::training);
  const Key size = training("microbatch_size", &Training::microbatch_size, "help");
  RunConfig config;
  size.set(config, Value(int64_t{3}));
  EXPECT_EQ(config.training.microbatch_size, 3);
  EXPECT_EQ(size.get(config), Value(int64_t{3}));
  size.set(config, std::nullopt);
  EXPECT_FALSE(config.training.microbatch_size);
}

TEST(Key, SaysWhatItAccepts) {
  const Section training("training", &RunConfig::training);
  const auto key = [&] { return training("steps", &Training::steps, "help"); };
  EXPECT_EQ(key().accepted(), "");
  EXPECT_EQ(key().at_least(1).or_value(-1).accepted(), "at least 1, or -1");
  EXPECT_EQ(key().above(0).below(1).accepted(), "above 0 and below 1");
  EXPECT_EQ(key().one_of({"0", "1"}).accepted(), "0, 1");
  const Section job("job", &RunConfig::job);
  EXPECT_EQ(job("description", &Job::description, "help").one_of({"a"}).accepted(), "\"a\"");
}

}  // namespace
}  // namespace brigade::config
