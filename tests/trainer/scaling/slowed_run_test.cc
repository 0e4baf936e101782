// SPDX-License-Identifier: Apache-2.0
// Ranks whose links are slowed by a known amount: the breakdown finds that amount, and calls it
// what it is.
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>

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
using testing::LinkClock;
using testing::LinkSpeed;
using testing::RankLink;

constexpr int32_t kSteps = 9;
constexpr LinkSpeed kLink = {milliseconds(10), 40e6};
constexpr int64_t kBytes = 1'200'000;  // 10 ms + 30 ms
constexpr double kTransferMs = 40;

/// One rank of a run over slowed links.
struct Seat {
  World& world;
  Timeline& timeline;
  RankLink& link;

  void compute(Activity activity, int ms, const std::function<void()>& inner = {}) const {
    const TimelineScope scope(&timeline, activity);
    link.pass(milliseconds(ms));
    if (inner) {
      inner();
    }
  }
};

/// What one rank does in a step.
using StepFunction = std::function<void()>;

struct Measured {
  std::vector<Breakdown> ranks;  ///< medians over the steps
  /// By rank and group: milliseconds a step by the link's own book, the median.
  std::vector<std::map<std::string, double>> booked;
};

double median_of(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// Runs steps that begin together, and breaks down what the ranks' files say.
Measured measure(int64_t ranks,
                 LinkClock clock,
                 const std::function<StepFunction(const Seat& seat)>& prepare) {
  Measured measured;
  measured.booked.resize(static_cast<size_t>(ranks));
  std::vector<RankTimeline> timelines(static_cast<size_t>(ranks));
  testing::run_ranks_slowed(ranks, kLink, clock, [&](World& beneath, RankLink& link) {
    const auto timeline =
        std::make_shared<Timeline>(Timeline::kDefaultCapacity, [&link] { return link.now_ns(); });
    collective::RecordedWorld world(beneath, timeline);
    const StepFunction step = prepare({world, *timeline, link});
    auto everyone = world.everyone("world");
    std::map<std::string, std::vector<double>> booked;
    for (int32_t number = 0; number < kSteps; ++number) {
      ASSERT_TRUE(everyone->barrier().wait());
      std::map<std::string, int64_t> before;
      for (const TimelineGroup& group : timeline->groups()) {
        before[group.name] = link.exposed_ns(group.name);
      }
      {
        const TimelineScope scope(timeline.get(), Activity::kStep, {.step = number});
        step();
      }
      for (const auto& [group, ns] : before) {
        booked[group].push_back(static_cast<double>(link.exposed_ns(group) - ns) / 1e6);
      }
    }
    const auto index = static_cast<size_t>(world.rank());
    for (const auto& [group, values] : booked) {
      measured.booked[index][group] = median_of(values);
    }
    const RankTimeline recorded = last_steps(*timeline, kSteps, {world.rank(), ranks, "one"});
    timelines[index] = value_or_throw(parse_timeline(timeline_text(recorded), "timeline.csv"));
  });
  const std::vector<StepBreakdown> steps = value_or_throw(break_down(timelines));
  EXPECT_EQ(steps.size(), static_cast<size_t>(kSteps));
  for (const StepBreakdown& step : steps) {
    EXPECT_EQ(step.uncut_waits, 0) << step.step;
  }
  measured.ranks = median_by_rank(steps);
  return measured;
}

/// Two ranks of which the second computes for 30 ms more; sums along tp and dp_shard.
StepFunction straggler(const Seat& seat) {
  std::shared_ptr<Communicator> tp = seat.world.everyone("tp");
  std::shared_ptr<Communicator> data = seat.world.everyone("dp_shard");
  auto floats = std::make_shared<std::vector<float>>(kBytes / sizeof(float));
  return [=] {
    const auto sum = [&](Communicator& group) {
      const collective::Spans bytes = {bytes_of(std::span<float>(*floats))};
      ASSERT_TRUE(group.all_reduce(bytes, DType::kFloat32, ReduceOp::kSum).wait());
    };
    seat.compute(Activity::kForward, 10, [&] { sum(*tp); });
    seat.compute(Activity::kBackward, seat.world.rank() == 0 ? 10 : 40);
    sum(*data);
  };
}

/// A gather of 70 ms behind a forward of 30.
StepFunction overlap(const Seat& seat) {
  std::shared_ptr<Communicator> data = seat.world.everyone("dp_shard");
  auto whole = std::make_shared<std::vector<float>>(2 * kBytes / sizeof(float));
  return [=] {
    const std::span<float> all(*whole);
    const std::span<float> parts[2] = {all.first(all.size() / 2), all.last(all.size() / 2)};
    Work work = data->all_gather({bytes_of(parts[seat.world.rank()])},
                                 {{bytes_of(parts[0])}, {bytes_of(parts[1])}});
    seat.compute(Activity::kForward, 30);
    ASSERT_TRUE(work.wait());
  };
}

/// Each rank computes for 40 ms and sends what it has to the next.
StepFunction relay(const Seat& seat) {
  std::shared_ptr<Communicator> pipeline = seat.world.everyone("pp");
  auto floats = std::make_shared<std::vector<float>>(kBytes / sizeof(float));
  return [=] {
    const auto rank = static_cast<int>(seat.world.rank());
    const collective::Span bytes = bytes_of(std::span<float>(*floats));
    if (rank > 0) {
      ASSERT_TRUE(pipeline->receive({bytes}, rank - 1, 7).wait());
    }
    seat.compute(Activity::kForward, 40);
    if (rank + 1 < pipeline->size()) {
      ASSERT_TRUE(pipeline->send({bytes}, rank + 1, 7).wait());
    }
  };
}

double part_of(const Breakdown& breakdown, Part part) {
  return breakdown[static_cast<size_t>(part)];
}

/// Exactly, as the virtual clock goes.
void expect_ms(const Breakdown& breakdown, const std::vector<std::pair<Part, double>>& expected) {
  Breakdown all = {};
  for (const auto& [part, ms] : expected) {
    all[static_cast<size_t>(part)] = ms;
  }
  for (size_t part = 0; part < kParts; ++part) {
    EXPECT_NEAR(breakdown[part], all[part], 1e-6) << to_string(static_cast<Part>(part));
  }
}

TEST(SlowedRun, TheLinksTimeIsExposedCommunicationOfTheAxisAndNotOfWhoIsLate) {
  const Measured measured = measure(2, LinkClock::kVirtual, straggler);
  expect_ms(measured.ranks[0],
            {{Part::kCompute, 20},
             {Part::kTensor, kTransferMs},
             {Part::kData, kTransferMs},
             {Part::kIdle, 30}});
  expect_ms(measured.ranks[1],
            {{Part::kCompute, 50}, {Part::kTensor, kTransferMs}, {Part::kData, kTransferMs}});
}

TEST(SlowedRun, WhatComputeHidesOfATransferIsNotExposed) {
  const Measured measured = measure(2, LinkClock::kVirtual, overlap);
  for (const Breakdown& rank : measured.ranks) {
    expect_ms(rank, {{Part::kCompute, 30}, {Part::kZero, 40}});
  }
}

TEST(SlowedRun, AMessagesTimeIsThePipelinesAndTheRestOfTheWaitABubble) {
  const Measured measured = measure(3, LinkClock::kVirtual, relay);
  expect_ms(measured.ranks[0], {{Part::kCompute, 40}, {Part::kIdle, 160}});
  expect_ms(measured.ranks[1],
            {{Part::kCompute, 40},
             {Part::kBubble, 40},
             {Part::kPipeline, kTransferMs},
             {Part::kIdle, 80}});
  expect_ms(measured.ranks[2],
            {{Part::kCompute, 40}, {Part::kBubble, 120}, {Part::kPipeline, kTransferMs}});
}

/// The real clock takes what was set and whatever a busy machine adds. The link's own book has
/// both, and the breakdown agrees with it.
void expect_booked(const Measured& measured, size_t rank, const std::string& group, Part part) {
  const double booked = measured.booked.at(rank).at(group);
  EXPECT_NEAR(part_of(measured.ranks.at(rank), part), booked, 0.05 * booked)
      << to_string(part) << " of rank " << rank;
  std::cout << to_string(part) << " of rank " << rank << ": " << part_of(measured.ranks[rank], part)
            << " ms, by the link's book " << booked << " ms\n";
}

TEST(SlowedRun, InRealTimeTheBreakdownAgreesWithTheLinksOwnBook) {
  const Measured sums = measure(2, LinkClock::kReal, straggler);
  const Measured gather = measure(2, LinkClock::kReal, overlap);
  for (const size_t rank : {0U, 1U}) {
    expect_booked(sums, rank, "tp", Part::kTensor);
    expect_booked(sums, rank, "dp_shard", Part::kData);
    EXPECT_GE(sums.booked[rank].at("dp_shard"), 0.95 * kTransferMs) << "no link is faster than set";
    expect_booked(gather, rank, "dp_shard", Part::kZero);
  }
  const Measured messages = measure(3, LinkClock::kReal, relay);
  expect_booked(messages, 1, "pp", Part::kPipeline);
  expect_booked(messages, 2, "pp", Part::kPipeline);
}

}  // namespace
}  // namespace brigade::scaling
