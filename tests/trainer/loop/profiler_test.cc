// SPDX-License-Identifier: Apache-2.0
// What the program itself counted and timed is what the profile says.
#include "trainer/loop/profiler.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/tensor/program.h"
#include "tests/support/rank_threads.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "tests/trainer/loop/recipe.h"
#include "trainer/scaling/breakdown.h"
#include "trainer/scaling/profile_folder.h"

namespace brigade::loop {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Settings = std::vector<std::string>;
using Bytes = std::map<std::string, double>;

constexpr int64_t kSteps = 3;
constexpr int64_t kActive = 2;

Settings dp2() {
  return {"parallelism.data_parallel_shard_degree=2"};
}

Settings all_axes() {
  return {"parallelism.data_parallel_shard_degree=2",
          "parallelism.pipeline_parallel_degree=2",
          "parallelism.tensor_parallel_degree=2"};
}

config::RunConfig recipe_in(const TemporaryFolder& folder, Settings settings, int64_t zero_stage) {
  settings.insert(settings.end(),
                  {concat("parallelism.zero_stage=", zero_stage),
                   "job.dump_folder=" + folder / "run",
                   "profiling.enable_profiling=true",
                   concat("profiling.profile_freq=", kSteps),
                   concat("profiling.profiler_active=", kActive)});
  return recipe(settings);
}

std::unique_ptr<Trainer> trainer_of(collective::World& world,
                                    const config::RunConfig& config,
                                    std::shared_ptr<Timeline> timeline) {
  return value_or_throw(Trainer::create(world,
                                        {.config = config,
                                         .training = counting_tokens(96, 50),
                                         .validation = nullptr,
                                         .timeline = std::move(timeline)}));
}

/// Of entries of groups of which this rank is the first member: over all ranks each counts once.
void add_ledger(Bytes& bytes, tensor::Program& program) {
  for (const tensor::LedgerEntry& entry : program.ledger().entries()) {
    const bool first = program.mesh().flattened_index(program.rank(), entry.axes) == 0;
    if (first && entry.group_bytes > 0) {
      bytes[join(entry.axes, "·")] += static_cast<double>(entry.group_bytes);
    }
  }
}

struct Recorded {
  std::vector<double> losses = {};
  std::vector<std::string> lines = {};  ///< of all ranks
  Bytes ledger = {};
};

Recorded record(const config::RunConfig& config) {
  Recorded recorded;
  std::mutex mutex;
  testing::run_ranks(config::wanted_ranks(config), [&](collective::World& world) {
    const auto timeline = std::make_shared<Timeline>();
    Profiler profiler(config, world, timeline);
    const auto trainer = trainer_of(world, config, timeline);
    for (int64_t step = 1; step <= kSteps; ++step) {
      const double loss = value_or_throw(trainer->step()).loss;
      EXPECT_EQ(profiler.is_due(step), step == kSteps);
      const std::lock_guard<std::mutex> lock(mutex);
      if (world.rank() == 0) {
        recorded.losses.push_back(loss);
      }
    }
    const std::vector<std::string> lines = value_or_throw(profiler.write(kSteps, *trainer));
    const std::lock_guard<std::mutex> lock(mutex);
    recorded.lines.insert(recorded.lines.end(), lines.begin(), lines.end());
    add_ledger(recorded.ledger, trainer->program());
  });
  return recorded;
}

std::vector<double> losses_without(const config::RunConfig& config) {
  std::vector<double> losses;
  testing::run_ranks(config::wanted_ranks(config), [&](collective::World& world) {
    const auto trainer = trainer_of(world, config, nullptr);
    for (int64_t step = 1; step <= kSteps; ++step) {
      const double loss = value_or_throw(trainer->step()).loss;
      if (world.rank() == 0) {
        losses.push_back(loss);
      }
    }
  });
  return losses;
}

Bytes bytes_of(const scaling::Profile& profile) {
  Bytes bytes;
  for (const scaling::RankFacts& rank : profile.ranks) {
    for (const auto& [axis, share] : rank.bytes_by_axis) {
      bytes[axis] += share;
    }
  }
  return bytes;
}

void expect_near(const Bytes& found, const Bytes& expected) {
  ASSERT_EQ(found.size(), expected.size()) << ::testing::PrintToString(found);
  for (const auto& [axis, bytes] : expected) {
    ASSERT_TRUE(found.contains(axis)) << axis;
    EXPECT_NEAR(found.at(axis), bytes, 1e-9 * bytes) << axis;
  }
}

/// Every rank's step is the sum of its parts.
void expect_adds_up(const std::vector<RankTimeline>& timelines) {
  const auto steps = scaling::break_down(timelines);
  ASSERT_TRUE(steps) << steps.error().text;
  ASSERT_EQ(steps->size(), static_cast<size_t>(kActive));
  int32_t number = kSteps - kActive;
  for (const scaling::StepBreakdown& step : *steps) {
    EXPECT_EQ(step.step, ++number);
    EXPECT_EQ(step.uncut_waits, 0);
    for (size_t rank = 0; rank < timelines.size(); ++rank) {
      const scaling::Breakdown& parts = step.by_rank.at(rank);
      const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
      EXPECT_NEAR(sum, step.step_ms.at(rank), 1e-9 * step.step_ms.at(rank));
      EXPECT_GT(parts[static_cast<size_t>(scaling::Part::kCompute)], 0.0);
    }
  }
}

struct Mesh {
  std::string name = "";
  Settings settings = {};
  double message_bytes = 0;  ///< of all ranks in one step
};

class ProfilerOf : public ::testing::TestWithParam<std::tuple<Mesh, int64_t>> {};

TEST_P(ProfilerOf, WritesWhatAllRanksDidAndChangesNoLoss) {
  const TemporaryFolder folder;
  const auto& [mesh, zero_stage] = GetParam();
  const config::RunConfig config = recipe_in(folder, mesh.settings, zero_stage);
  const Recorded recorded = record(config);
  const std::string path = folder / "run/profile_traces/iteration_3";
  ASSERT_THAT(recorded.lines, SizeIs(1)) << "rank 0 alone";
  EXPECT_THAT(recorded.lines[0], StartsWith(concat("profile of ", path, "/trace.json: ")));
  EXPECT_THAT(recorded.lines[0], HasSubstr("compute "));

  const Result<scaling::Profile> profile = scaling::read_profile(path);
  ASSERT_TRUE(profile) << profile.error().text;
  const auto ranks = static_cast<size_t>(config::wanted_ranks(config));
  ASSERT_EQ(profile->ranks.size(), ranks);
  for (size_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(profile->timelines[rank].rank, static_cast<int64_t>(rank));
    EXPECT_GT(profile->ranks[rank].peak_bytes, int64_t{1} << 20);
  }
  expect_adds_up(profile->timelines);

  Bytes expected = recorded.ledger;
  if (mesh.message_bytes > 0) {
    expected["pp"] += mesh.message_bytes;
  }
  expect_near(bytes_of(*profile), expected);
  EXPECT_EQ(expected.empty(), ranks == 1);
  EXPECT_EQ(recorded.losses, losses_without(config)) << "every bit";
}

// 4 sequences of a data rank are 2 microbatches of 2 x 16 x 32 float32 between its 2 stages, there
// and back, once in each of the 2 x 2 pairs of ranks that are beside each other.
constexpr double kMessageBytes = 2.0 * (2 * 16 * 32 * 4) * 2 * (2 * 2);

INSTANTIATE_TEST_SUITE_P(
    Meshes,
    ProfilerOf,
    ::testing::Combine(::testing::Values(Mesh{"one"},
                                         Mesh{"dp2", dp2()},
                                         Mesh{"dp2_pp2_tp2", all_axes(), kMessageBytes}),
                       ::testing::Values(1, 3)),
    [](const auto& one) {
      return concat(std::get<0>(one.param).name, "_zero_", std::get<1>(one.param));
    });

TEST(Profiler, IsNeverDueUnlessItIsEnabled) {
  const config::RunConfig config = recipe({"profiling.profile_freq=1"});
  testing::run_ranks(1, [&](collective::World& world) {
    const Profiler profiler(config, world, std::make_shared<Timeline>());
    for (int64_t step = 1; step <= 20; ++step) {
      EXPECT_FALSE(profiler.is_due(step));
    }
  });
}

TEST(Profiler, SaysWhichFolderCannotBeWritten) {
  const TemporaryFolder folder;
  config::RunConfig config = recipe_in(folder, {}, 0);
  write_file(folder / "file", "");
  config.job.dump_folder = folder / "file";
  testing::run_ranks(1, [&](collective::World& world) {
    const auto timeline = std::make_shared<Timeline>();
    Profiler profiler(config, world, timeline);
    const auto trainer = trainer_of(world, config, timeline);
    ASSERT_TRUE(trainer->step());
    const auto refused = profiler.write(1, *trainer);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kIo);
    EXPECT_THAT(refused.error().text, HasSubstr(folder / "file/profile_traces/iteration_1"));
  });
}

}  // namespace
}  // namespace brigade::loop
