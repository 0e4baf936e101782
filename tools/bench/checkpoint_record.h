// SPDX-License-Identifier: Apache-2.0
/// What a benchmark of checkpoints saw, and its JSON line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace brigade::bench {

/// Milliseconds; one of each a round.
struct CheckpointRound {
  double plain_write = 0.0;  ///< of as many bytes, by one rank into one file, flushed
  double save = 0.0;         ///< until all ranks go on
  double copy = 0.0;         ///< the slowest rank's memcpy of its state
  double stall = 0.0;        ///< the slowest rank's, of a save in the background
  double plain_read = 0.0;   ///< of as many bytes, by one rank, from the disk
  double load = 0.0;         ///< from the disk until all ranks hold their weights
};

struct CheckpointTimes {
  std::string description = "";
  int64_t ranks = 1;
  std::string mesh = "";
  double mib = 0.0;  ///< of the checkpoint
  std::vector<CheckpointRound> rounds = {};
};

/// One object in one line: medians, and medians of each round's ratio.
std::string to_json(const CheckpointTimes& times);

}  // namespace brigade::bench
