// SPDX-License-Identifier: Apache-2.0
// Law 1 over TCP: ranks as processes, started as a user starts them, reach the single rank's curve.
#include <gmock/gmock.h>

#include "tests/end_to_end/train_process.h"

namespace brigade::end_to_end {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Settings mesh(int data, int tensor, int pipeline, int zero_stage, const std::string& schedule) {
  return {"parallelism.data_parallel_shard_degree=" + std::to_string(data),
          "parallelism.tensor_parallel_degree=" + std::to_string(tensor),
          "parallelism.pipeline_parallel_degree=" + std::to_string(pipeline),
          "parallelism.zero_stage=" + std::to_string(zero_stage),
          "parallelism.pipeline_parallel_schedule=" + schedule};
}

struct Layout {
  const char* name;
  int ranks;
  Settings settings;
};

void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.name;
}

class ProcessMeshes : public ProcessCurveTest, public ::testing::WithParamInterface<Layout> {};

TEST_P(ProcessMeshes, R098ReachTheCurveOfOneRank) {
  const Layout& layout = GetParam();
  ASSERT_EQ(train(layout.settings), 0);
  expect_the_same_curve();
  // The global loss, whatever rank holds it; R100: one stream, a log per rank.
  for (const nlohmann::json& record : wanted_) {
    char step[64];
    std::snprintf(step,
                  sizeof(step),
                  "step: %d/5  loss: %.5f ",
                  record["step"].get<int>(),
                  record.at("loss").get<double>());
    EXPECT_EQ(count_of(step, console_), 1) << step;
  }
  EXPECT_EQ(count_of("\nstep: ", console_), 5);
  EXPECT_EQ(count_of("\ndone: 5 steps", console_), 1);
  for (int rank = 0; rank < layout.ranks; ++rank) {
    const std::string log = text_of(run_folder() + "/rank_" + std::to_string(rank) + ".log");
    EXPECT_EQ(count_of("[rank " + std::to_string(rank) + "] info: step: ", log), 5);
  }
}

INSTANTIATE_TEST_SUITE_P(SixMeshes,
                         ProcessMeshes,
                         ::testing::Values(Layout{"dp2", 2, mesh(2, 1, 1, 0, "1F1B")},
                                           Layout{"tp2", 2, mesh(1, 2, 1, 1, "1F1B")},
                                           Layout{"pp2", 2, mesh(1, 1, 2, 0, "GPipe")},
                                           Layout{"dp2_tp2", 4, mesh(2, 2, 1, 1, "1F1B")},
                                           Layout{"dp2_pp2", 4, mesh(2, 1, 2, 0, "1F1B")},
                                           Layout{"dp2_tp2_pp2", 8, mesh(2, 2, 2, 1, "GPipe")}),
                         [](const ::testing::TestParamInfo<Layout>& layout) {
                           return std::string(layout.param.name);
                         });

class ForeignLauncher : public ProcessCurveTest {
 protected:
  /// Starts all ranks of dp2 x pp2 and waits for them.
  void run_world(int port) {
    std::vector<Run> ranks;
    for (int rank = 3; rank >= 0; --rank) {  // rank 0, the one to dial, comes last
      ranks.push_back(start_rank(rank, 4, port, mesh(2, 1, 2, 1, "1F1B")));
    }
    for (const Run& rank : ranks) {
      EXPECT_EQ(rank->wait(40s), 0) << rank->console();
      EXPECT_TRUE(rank->all_gone());
    }
    EXPECT_THAT(ranks.back()->console(), HasSubstr("ranks told by RANK and WORLD_SIZE"));
    EXPECT_EQ(ranks.front()->console(), "");
  }
};

TEST_F(ForeignLauncher, R051RunsTwiceOnOnePortAndReachesTheCurveOfOneRank) {
  const int port = free_port();
  run_world(port);
  expect_the_same_curve();
  run_world(port);
  expect_the_same_curve();
}

}  // namespace
}  // namespace brigade::end_to_end
