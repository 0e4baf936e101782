// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/text.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(Text, ConcatenatesAnythingThatStreams) {
  EXPECT_EQ(concat("rank ", 3, " of ", int64_t{8}, ", ", 1.5), "rank 3 of 8, 1.5");
}

TEST(Text, JoinsWithASeparatorBetweenElementsOnly) {
  EXPECT_EQ(join(std::vector<int>{1, 2, 3}), "1, 2, 3");
  EXPECT_EQ(join(std::vector<std::string>{"pp", "tp"}, " x "), "pp x tp");
  EXPECT_EQ(join(std::vector<int>{7}), "7");
  EXPECT_EQ(join(std::vector<int>{}), "");
}

TEST(Text, GroupsDigitsByThousands) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1000), "1,000");
  EXPECT_EQ(with_thousands(1'234'567), "1,234,567");
  EXPECT_EQ(with_thousands(-999), "-999");
  EXPECT_EQ(with_thousands(-1000), "-1,000");
  EXPECT_EQ(with_thousands(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Text, CountsInSingularAndPlural) {
  EXPECT_EQ(counted(1, "thread"), "1 thread");
  EXPECT_EQ(counted(0, "thread"), "0 threads");
  EXPECT_EQ(counted(2, "rank"), "2 ranks");
}

TEST(Text, PrintsBytesInTheLargestUnitThatFits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text(12'345'678), "11.8 MiB");
  EXPECT_EQ(bytes_text(int64_t{5} << 30), "5.0 GiB");
  EXPECT_EQ(bytes_text(int64_t{3} << 50), "3072.0 TiB");
}

class NearestName : public testing::Test {
 protected:
  const std::vector<std::string> names_ = {
      "tensor_parallel_degree", "pipeline_parallel_degree", "steps", "seed", "lr"};
};

TEST_F(NearestName, FindsASlipOfTheFingers) {
  EXPECT_EQ(nearest_name("tensor_paralel_degree", names_), "tensor_parallel_degree");
  EXPECT_EQ(nearest_name("setps", names_), "steps");
  EXPECT_EQ(nearest_name("sed", names_), "seed");
}

TEST_F(NearestName, CountsASwapOfNeighboursAsOneSlip) {
  EXPECT_EQ(nearest_name("rl", names_), "lr");
}

TEST_F(NearestName, OffersNothingForAStranger) {
  EXPECT_EQ(nearest_name("warmup", names_), std::nullopt);
  EXPECT_EQ(nearest_name("", names_), std::nullopt);
  EXPECT_EQ(nearest_name("steps", {}), std::nullopt);
}

TEST_F(NearestName, GivesTiesToTheEarlier) {
  const std::vector<std::string> tied = {"beta2", "beta1"};
  EXPECT_EQ(nearest_name("beta3", tied), "beta2");
}

}  // namespace
}  // namespace brigade
