// SPDX-License-Identifier: Apache-2.0
/// `brigade train` with checkpoints, as its folder looks to somebody who stands beside it.
///
///   ASSERT_EQ(train(saving(kDp2, 4)), 0);       // step-1 to step-4
///   damage(checkpoint(4) + "/rank-00001.safetensors");
///   ASSERT_EQ(train(saving(kDp2, 5)), 0);
///   expect_went_on_from(3);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/end_to_end/train_process.h"
#include "tests/support/failing_disk.h"
#include "trainer/checkpoint/manifest.h"

namespace brigade::end_to_end {

extern const Settings kDp2;
extern const Settings kDp2Pp2;

/// `settings` with a checkpoint at every step, until `steps`; what a step trains does not depend on
/// how many there are.
Settings saving(Settings settings, int64_t steps);

class CheckpointProcessTest : public TrainProcessTest {
 protected:
  std::string folder() const { return run_folder() + "/checkpoint"; }
  /// "FOLDER/step-4".
  std::string checkpoint(int64_t step) const;

  /// Published steps, the newest first, whole or not.
  std::vector<int64_t> steps() const;
  /// Every published one is whole, to the last byte: the newest first. Fails the test otherwise.
  std::vector<int64_t> whole_steps() const;
  checkpoint::Manifest manifest(int64_t step) const;
  /// What lies there half made or half removed.
  std::vector<std::string> leftovers() const;
  void expect_no_leftovers() const { EXPECT_EQ(leftovers(), std::vector<std::string>()); }

  /// The console says so, and the records have each step once, in order.
  void expect_went_on_from(int64_t step) const;

  /// The same, with this happening to the disk.
  int train_with(const std::vector<testing::DiskRule>& rules, const Settings& settings);
  Run start_with(const std::vector<testing::DiskRule>& rules, const Settings& settings);

  /// Losses by step, as recorded.
  std::vector<double> losses() const;
};

}  // namespace brigade::end_to_end
