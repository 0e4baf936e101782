// SPDX-License-Identifier: Apache-2.0
// Ranks whose links are slowed by a known amount: the breakdown finds that amount, and calls it
// what it is.
#include <chrono>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "parallel/collective/recorded_world.h"
#include "tests/support/slowed_world.h"
#include "trainer/scaling/breakdown.h"

namespace brigade::scaling {
namespace {

using collective::bytes_of;
using collective::Communicator;
using collective::ReduceOp;
using collective::Work;
using collective::World;
using std::chrono::milliseconds;
using testing::LinkSpeed;

constexpr int32_t kSteps = 9;  // the median of so many is far from what a busy machine adds to one
constexpr LinkSpeed kLink = {milliseconds(10), 40e6};
constexpr int64_t kBytes = 1'200'000;  // 10 ms + 30 ms
constexpr double kTransferMs = 40;

void compute(Timeline& timeline,
             Activity activity,
             int ms,
             const std::function<void()>& inner = {}) {
  const TimelineScope scope(&timeline, activity);
  std::this_thread::sleep_for(milliseconds(ms));
  if (inner) {
    inner();
  }
}

using StepFunction = std::function<void(World& world, Timeline& timeline)>;

/// Runs steps that begin together; the median breakdown of each rank, from what its file says.
std::vector<Breakdown> measure(int64_t ranks,
                               const std::function<StepFunction(World& world)>& prepare) {
  std::vector<RankTimeline> timelines(static_cast<size_t>(ranks));
  testing::run_ranks_slowed(ranks, kLink, [&](World& beneath) {
    const auto timeline = std::make_shared<Timeline>();
    collective::RecordedWorld world(beneath, timeline);
    const StepFunction step = prepare(world);
    auto everyone = world.everyone("world");
    for (int32_t number = 0; number < kSteps; ++number) {
      ASSERT_TRUE(everyone->barrier().wait());
      const TimelineScope scope(timeline.get(), Activity::kStep, {.step = number});
      step(world, *timeline);
    }
    const RankTimeline recorded =
        last_steps(*timeline, kSteps, {world.rank(), ranks, clock_of_this_machine()});
    timelines[static_cast<size_t>(world.rank())] =
        value_or_throw(parse_timeline(timeline_text(recorded), "timeline.csv"));
  });
  const std::vector<StepBreakdown> steps = value_or_throw(break_down(timelines));
  EXPECT_EQ(steps.size(), static_cast<size_t>(kSteps));
  for (const StepBreakdown& step : steps) {
    EXPECT_EQ(step.uncut_waits, 0) << step.step;
  }
  return median_by_rank(steps);
}

void expect_ms(const Breakdown& breakdown, Part part, double expected) {
  EXPECT_NEAR(breakdown[static_cast<size_t>(part)], expected, 0.05 * expected) << to_string(part);
}

TEST(SlowedRun, ItsLinksTimeIsExposedCommunicationOfTheAxisAndNotOfWhoIsLate) {
  const std::vector<Breakdown> ranks = measure(2, [](World& world) -> StepFunction {
    std::shared_ptr<Communicator> tp = world.everyone("tp");
    std::shared_ptr<Communicator> data = world.everyone("dp_shard");
    auto floats = std::make_shared<std::vector<float>>(kBytes / sizeof(float));
    return [=](World& of, Timeline& timeline) {
      const auto sum = [&](Communicator& group) {
        Work work = group.all_reduce(
            {bytes_of(std::span<float>(*floats))}, DType::kFloat32, ReduceOp::kSum);
        ASSERT_TRUE(work.wait());
      };
      compute(timeline, Activity::kForward, 10, [&] { sum(*tp); });
      // Rank 1 is slower by 30 ms, for which rank 0 waits.
      compute(timeline, Activity::kBackward, of.rank() == 0 ? 10 : 40);
      sum(*data);
    };
  });
  for (const Breakdown& rank : ranks) {
    expect_ms(rank, Part::kTensor, kTransferMs);
    expect_ms(rank, Part::kData, kTransferMs);
  }
  expect_ms(ranks[0], Part::kIdle, 30);
  expect_ms(ranks[0], Part::kCompute, 20);
  expect_ms(ranks[1], Part::kCompute, 50);
}

TEST(SlowedRun, WhatComputeHidesOfATransferIsNotExposed) {
  const std::vector<Breakdown> ranks = measure(2, [](World& world) -> StepFunction {
    std::shared_ptr<Communicator> data = world.everyone("dp_shard");
    auto whole = std::make_shared<std::vector<float>>(2 * kBytes / sizeof(float));
    return [=](World& of, Timeline& timeline) {
      const std::span<float> all(*whole);
      const std::span<float> parts[2] = {all.first(all.size() / 2), all.last(all.size() / 2)};
      Work work = data->all_gather({bytes_of(parts[of.rank()])},
                                   {{bytes_of(parts[0])}, {bytes_of(parts[1])}});
      compute(timeline, Activity::kForward, 30);
      ASSERT_TRUE(work.wait());
    };
  });
  for (const Breakdown& rank : ranks) {
    expect_ms(rank, Part::kZero, 10 + 2 * 30 - 30);
    expect_ms(rank, Part::kCompute, 30);
  }
}

TEST(SlowedRun, AMessagesTimeIsThePipelinesAndTheRestOfTheWaitABubble) {
  const std::vector<Breakdown> ranks = measure(3, [](World& world) -> StepFunction {
    std::shared_ptr<Communicator> pipeline = world.everyone("pp");
    auto floats = std::make_shared<std::vector<float>>(kBytes / sizeof(float));
    return [=](World& of, Timeline& timeline) {
      const auto rank = static_cast<int>(of.rank());
      const collective::Span bytes = bytes_of(std::span<float>(*floats));
      if (rank > 0) {
        ASSERT_TRUE(pipeline->receive({bytes}, rank - 1, 7).wait());
      }
      compute(timeline, Activity::kForward, 40);
      if (rank < 2) {
        ASSERT_TRUE(pipeline->send({bytes}, rank + 1, 7).wait());
      }
    };
  });
  expect_ms(ranks[1], Part::kPipeline, kTransferMs);
  expect_ms(ranks[2], Part::kPipeline, kTransferMs);
  expect_ms(ranks[1], Part::kBubble, 40);
  expect_ms(ranks[2], Part::kBubble, 120);
}

}  // namespace
}  // namespace brigade::scaling
