// SPDX-License-Identifier: Apache-2.0
/// Ranks of every temper for spawn() to start. The test program plays them itself: with
/// BRIGADE_TEST_ROLE set it acts and exits before main.
///
///   TEST_F(Spawn, IsDoneWhenAllRanksAre) { EXPECT_EQ(run("done"), 0); }
#pragma once

#include <chrono>
#include <sstream>
#include <string>
#include <sys/types.h>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/launch/spawn.h"

namespace brigade::launch {

class Spawn : public ::testing::Test {
 public:
  /// Logs in `folder`, and short graces.
  static SpawnOptions quick(const std::string& folder);

 protected:
  void SetUp() override;
  void TearDown() override;

  /// Spawns three ranks that play `role`; what the launcher prints is in console().
  int run(const std::string& role);
  int run(int ranks, const std::string& role, const SpawnOptions& options);

  std::string console() const { return console_.str(); }
  std::string log(int rank) const;

  /// A launcher process over three ranks that play `role`; returns when all of them run.
  void start_launcher(const std::string& role,
                      std::chrono::milliseconds stop_grace = std::chrono::milliseconds(500));
  /// The launcher's exit code, 128 + signal, or -1 when it does not end.
  int launcher_code();
  std::string launcher_console() const;
  bool ranks_are_gone() const;
  /// Forgets that launcher.
  void begin_again();

  std::string folder_;
  std::ostringstream console_;
  pid_t launcher_ = -1;
  std::vector<pid_t> pids_;
};

}  // namespace brigade::launch
