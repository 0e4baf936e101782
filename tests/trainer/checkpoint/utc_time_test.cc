// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/utc_time.h"

#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::checkpoint {
namespace {

TEST(UtcTime, IsNow) {
  const std::time_t before = std::time(nullptr);
  const std::string text = utc_time();
  const std::time_t after = std::time(nullptr);
  ASSERT_THAT(text, ::testing::MatchesRegex("....-..-..T..:..:..Z"));
  std::tm parts = {};
  ASSERT_NE(strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts), nullptr);
  const std::time_t said = timegm(&parts);
  EXPECT_GE(said, before);
  EXPECT_LE(said, after);
}

}  // namespace
}  // namespace brigade::checkpoint
