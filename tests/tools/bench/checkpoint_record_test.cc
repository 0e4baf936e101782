// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/checkpoint_record.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace brigade::bench {
namespace {

TEST(CheckpointRecord, TakesTheMedianOfEachRoundsRatio) {
  CheckpointTimes times;
  times.ranks = 2;
  times.mib = 12.5;
  const auto round = [](double scale, double slower) {
    return CheckpointRound{.plain_write = 10 * scale,
                           .save = 10 * scale * slower,
                           .copy = scale,
                           .stall = scale * slower,
                           .plain_read = 5 * scale,
                           .load = 5 * scale * slower};
  };
  times.rounds = {round(1, 1.25), round(8, 2), round(100, 1)};
  const nlohmann::json line = nlohmann::json::parse(to_json(times));
  EXPECT_EQ(line["rounds"], 3);
  EXPECT_EQ(line["mib"], 12.5);
  EXPECT_EQ(line["plain_write_ms"], 80);
  EXPECT_EQ(line["save_ms"], 160);
  EXPECT_EQ(line["save_speed_of_plain"], 0.8);
  EXPECT_EQ(line["load_speed_of_plain"], 0.8);
  EXPECT_EQ(line["stall_of_memcpy"], 1.25);
}

}  // namespace
}  // namespace brigade::bench
