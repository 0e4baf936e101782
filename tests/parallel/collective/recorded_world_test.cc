// SPDX-License-Identifier: Apache-2.0
#include "parallel/collective/recorded_world.h"

#include <array>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "tests/parallel/collective/engines.h"

namespace brigade::collective {
namespace {

using std::chrono::milliseconds;
using Floats = std::vector<float>;

Span bytes_in(Floats& values) {
  return bytes_of(std::span<float>(values));
}

/// A rank's world with a timeline of its own.
struct Recorded {
  explicit Recorded(World& beneath)
      : timeline(std::make_shared<Timeline>()), world(beneath, timeline) {}

  std::shared_ptr<Timeline> timeline;
  RecordedWorld world;
};

void expect_in_order(const TimedSpan& span) {
  EXPECT_LE(span.begin_ns, span.posted_ns);
  EXPECT_LE(span.posted_ns, span.wait_ns);
  EXPECT_LE(span.wait_ns, span.end_ns);
}

/// Every operation once; what each leaves behind is checked, then that there was one span for it.
void run_all_operations(Communicator& group, Timeline& timeline) {
  const int p = group.size();
  const auto size = static_cast<size_t>(p);
  const auto me = static_cast<size_t>(group.rank());
  Floats sum(6, 1.0F);
  ASSERT_TRUE(group.all_reduce({bytes_in(sum)}, DType::kFloat32, ReduceOp::kSum).wait());
  EXPECT_EQ(sum, Floats(6, static_cast<float>(p)));

  std::vector<Floats> rows(size, Floats(2, static_cast<float>(me)));
  std::vector<ConstSpans> terms;
  std::vector<ConstSpans> to;
  std::vector<Floats> parts(size, Floats(2));
  std::vector<Spans> into;
  for (size_t d = 0; d < size; ++d) {
    terms.push_back({bytes_in(rows[d])});
    to.push_back({bytes_in(rows[d])});
    into.push_back({bytes_in(parts[d])});
  }
  Floats mine(2);
  ASSERT_TRUE(
      group.reduce_scatter(terms, {bytes_in(mine)}, DType::kFloat32, ReduceOp::kSum).wait());
  EXPECT_EQ(mine, Floats(2, static_cast<float>(p * (p - 1)) / 2));
  ASSERT_TRUE(group.all_gather({bytes_in(rows[0])}, into).wait());
  EXPECT_EQ(parts.back(), Floats(2, static_cast<float>(p - 1)));
  Floats told(3, static_cast<float>(me));
  ASSERT_TRUE(group.broadcast({bytes_in(told)}, p - 1).wait());
  EXPECT_EQ(told, Floats(3, static_cast<float>(p - 1)));
  ASSERT_TRUE(group.all_to_all(to, into).wait());
  EXPECT_EQ(parts[0], Floats(2, 0.0F));
  ASSERT_TRUE(group.barrier().wait());

  const std::array<Activity, 6> order = {Activity::kAllReduce,
                                         Activity::kReduceScatter,
                                         Activity::kAllGather,
                                         Activity::kBroadcast,
                                         Activity::kAllToAll,
                                         Activity::kBarrier};
  const std::array<int64_t, 6> bytes = {24, 8 * p, 8 * p, 12, 8 * p, 0};
  const std::vector<TimedSpan> spans = timeline.spans();
  ASSERT_EQ(spans.size(), order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(spans[i].activity, order[i]);
    EXPECT_EQ(spans[i].bytes, bytes[i]) << to_string(order[i]);
    EXPECT_EQ(spans[i].sequence, i);
    EXPECT_EQ(spans[i].group, 0);
    expect_in_order(spans[i]);
  }
}

class RecordedEngines : public ::testing::TestWithParam<testing::EngineCase> {};

TEST_P(RecordedEngines, EachCollectiveDoesWhatItDidAndLeavesOneSpan) {
  testing::run_engine(GetParam(), [](World& beneath) {
    Recorded recorded(beneath);
    auto group = recorded.world.everyone("dp_shard");
    run_all_operations(*group, *recorded.timeline);
    EXPECT_EQ(recorded.timeline->groups()[0], (TimelineGroup{"dp_shard", group->members(), 0}));
  });
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         RecordedEngines,
                         ::testing::ValuesIn(testing::engine_cases({1, 2, 3})),
                         testing::engine_name);

TEST(RecordedWorld, PassesOnWhoItIsAndWhatItHasSent) {
  testing::run_ranks(2, [](World& beneath) {
    Recorded recorded(beneath);
    EXPECT_EQ(recorded.world.rank(), beneath.rank());
    EXPECT_EQ(recorded.world.size(), 2);
    auto group = recorded.world.group({1, 0}, "reversed");
    EXPECT_EQ(group->rank(), 1 - beneath.rank());
    EXPECT_EQ(group->size(), 2);
    EXPECT_EQ(group->name(), "reversed");
    EXPECT_EQ(group->members(), (std::vector<int64_t>{1, 0}));
    Floats values(100, 1.0F);
    ASSERT_TRUE(group->all_reduce({bytes_in(values)}, DType::kFloat32, ReduceOp::kSum).wait());
    EXPECT_EQ(group->bytes_sent(), 400);
    EXPECT_EQ(recorded.world.buffer_bytes().live, beneath.buffer_bytes().live);
    EXPECT_EQ(recorded.world.buffer_bytes().peak, beneath.buffer_bytes().peak);
    EXPECT_FALSE(recorded.world.failure().has_value());
  });
}

TEST(RecordedWorld, MessagesAreNumberedByTagPeerAndDirectionSoThatBothEndsAgree) {
  testing::run_ranks(3, [](World& beneath) {
    Recorded recorded(beneath);
    auto group = recorded.world.everyone("pp");
    Floats values(4, 1.0F);
    if (beneath.rank() == 0) {
      for (const auto& [peer, tag] :
           std::vector<std::pair<int, Tag>>{{1, 5}, {1, 6}, {2, 5}, {1, 5}}) {
        ASSERT_TRUE(group->send({bytes_in(values)}, peer, tag).wait());
      }
      ASSERT_TRUE(group->receive({bytes_in(values)}, 1, 5).wait());
      const std::vector<TimedSpan> spans = recorded.timeline->spans();
      ASSERT_EQ(spans.size(), 5U);
      EXPECT_EQ(spans[0].sequence, 0U);
      EXPECT_EQ(spans[1].tag, 6U);
      EXPECT_EQ(spans[1].sequence, 0U);
      EXPECT_EQ(spans[2].peer, 2);
      EXPECT_EQ(spans[2].sequence, 0U);
      EXPECT_EQ(spans[3].sequence, 1U) << "the second of tag 5 to rank 1";
      EXPECT_EQ(spans[4].activity, Activity::kReceive);
      EXPECT_EQ(spans[4].sequence, 0U) << "the other direction counts by itself";
      EXPECT_EQ(spans[4].bytes, 16);
      return;
    }
    ASSERT_TRUE(group->receive({bytes_in(values)}, 0, 5).wait());
    if (beneath.rank() == 1) {
      ASSERT_TRUE(group->receive({bytes_in(values)}, 0, 6).wait());
      ASSERT_TRUE(group->receive({bytes_in(values)}, 0, 5).wait());
      EXPECT_EQ(recorded.timeline->spans()[2].sequence, 1U);
      ASSERT_TRUE(group->send({bytes_in(values)}, 0, 5).wait());
    }
  });
}

TEST(RecordedWorld, PeersOfMessagesAreWorldRanks) {
  testing::run_ranks(3, [](World& beneath) {
    if (beneath.rank() == 0) {
      return;
    }
    Recorded recorded(beneath);
    auto group = recorded.world.group({2, 1}, "pp");
    Floats values(1);
    const int other = 1 - group->rank();
    Work work = beneath.rank() == 1 ? group->send({bytes_in(values)}, other, 1)
                                    : group->receive({bytes_in(values)}, other, 1);
    ASSERT_TRUE(work.wait());
    EXPECT_EQ(recorded.timeline->spans().at(0).peer, 3 - beneath.rank());
  });
}

TEST(RecordedWorld, OperationsAreWhereTheThreadIsWhenItPostsThem) {
  testing::run_ranks(1, [](World& beneath) {
    Recorded recorded(beneath);
    auto group = recorded.world.everyone("tp");
    Work work;
    {
      const TimelineScope step(recorded.timeline.get(), Activity::kStep, {.step = 4});
      const TimelineScope forward(
          recorded.timeline.get(), Activity::kForward, {.stage = 1, .unit = 2, .microbatch = 3});
      work = group->barrier();
    }
    ASSERT_TRUE(work.wait());
    const TimedSpan span = recorded.timeline->spans().back();
    EXPECT_EQ(span.activity, Activity::kBarrier);
    EXPECT_EQ(span.step, 4);
    EXPECT_EQ(span.stage, 1);
    EXPECT_EQ(span.unit, 2);
    EXPECT_EQ(span.microbatch, 3);
  });
}

TEST(RecordedWorld, OnlyTheFirstWaitCountsAndPollingCountsNot) {
  testing::run_ranks(1, [](World& beneath) {
    Recorded recorded(beneath);
    auto group = recorded.world.everyone("tp");
    Work work = group->barrier();
    EXPECT_TRUE(work.done());
    EXPECT_TRUE(recorded.timeline->spans().empty());
    ASSERT_TRUE(work.wait());
    ASSERT_TRUE(work.wait());
    ASSERT_EQ(recorded.timeline->spans().size(), 1U);
  });
}

TEST(RecordedWorld, AWorkThatNobodyWaitedForLeavesASpanWithoutAWait) {
  testing::run_ranks(1, [](World& beneath) {
    Recorded recorded(beneath);
    auto group = recorded.world.everyone("tp");
    {
      Work work = group->barrier();
      EXPECT_TRUE(work.done());
    }
    ASSERT_EQ(recorded.timeline->spans().size(), 1U);
    const TimedSpan span = recorded.timeline->spans()[0];
    EXPECT_EQ(span.wait_ns, span.posted_ns);
    EXPECT_EQ(span.end_ns, span.posted_ns);
  });
}

TEST(RecordedWorld, ACallThatIsRefusedIsNoOperation) {
  testing::run_ranks(2, [](World& beneath) {
    Recorded recorded(beneath);
    auto group = recorded.world.everyone("tp");
    Floats values(1);
    EXPECT_THROW((void)group->broadcast({bytes_in(values)}, 2), CheckFailure);
    EXPECT_THROW((void)group->send({bytes_in(values)}, 9, 1), CheckFailure);
    EXPECT_THROW((void)group->receive({bytes_in(values)}, group->rank(), 1), CheckFailure);
    EXPECT_THROW((void)recorded.world.group({1 - beneath.rank()}, "others"), CheckFailure);
    ASSERT_TRUE(group->barrier().wait());
    ASSERT_EQ(recorded.timeline->spans().size(), 1U);
    EXPECT_EQ(recorded.timeline->spans()[0].sequence, 0U);
    EXPECT_EQ(recorded.timeline->groups().size(), 1U);
  });
}

/// What `failing` gives on each of two ranks, over plain worlds or recorded ones.
std::vector<Error> errors_of(bool record,
                             const std::function<Result<void>(World&, Communicator&)>& failing) {
  std::vector<Error> errors(2);
  testing::run_ranks(
      2,
      [&](World& beneath) {
        Recorded recorded(beneath);
        World& world = record ? recorded.world : beneath;
        auto group = world.everyone("all");
        const Result<void> result = failing(world, *group);
        ASSERT_FALSE(result);
        errors[static_cast<size_t>(world.rank())] = result.error();
        EXPECT_EQ(world.failure(), beneath.failure());
        if (record) {
          EXPECT_GE(recorded.timeline->spans().size(), 1U) << "failed operations took time, too";
        }
      },
      milliseconds(300));
  return errors;
}

TEST(RecordedWorld, AMismatchReadsAsWithoutIt) {
  const auto failing = [](World& world, Communicator& group) {
    Floats values(world.rank() == 0 ? 4 : 5);
    return group.all_reduce({bytes_in(values)}, DType::kFloat32, ReduceOp::kSum).wait();
  };
  const std::vector<Error> recorded = errors_of(true, failing);
  EXPECT_EQ(recorded, errors_of(false, failing));
  EXPECT_EQ(recorded[0].code, ErrorCode::kMismatch);
}

TEST(RecordedWorld, AnAbortReadsAsWithoutIt) {
  const auto failing = [](World& world, Communicator& group) {
    if (world.rank() == 1) {
      world.abort({ErrorCode::kNonFinite, "the loss is nan"});
    }
    return group.barrier().wait();
  };
  const std::vector<Error> recorded = errors_of(true, failing);
  EXPECT_EQ(recorded, errors_of(false, failing));
  EXPECT_EQ(recorded[0].code, ErrorCode::kAborted);
  EXPECT_EQ(recorded[0].text, "the loss is nan");
  EXPECT_EQ(recorded[0].origin_rank, 1);
}

TEST(RecordedWorld, DeadlinesAreThoseOfTheWorldAndTheGroup) {
  testing::run_ranks(2, [](World& beneath) {
    Recorded recorded(beneath);
    recorded.world.set_timeout(milliseconds(60'000));
    auto group = recorded.world.everyone("all");
    group->set_timeout(milliseconds(100));
    if (beneath.rank() == 0) {
      Floats values(1);
      const Result<void> late = group->receive({bytes_in(values)}, 1, 3).wait();
      ASSERT_FALSE(late);
      EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
      const std::vector<TimedSpan> spans = recorded.timeline->spans();
      ASSERT_EQ(spans.size(), 1U);
      EXPECT_GE(spans[0].end_ns - spans[0].wait_ns, 90'000'000);
    } else {
      EXPECT_FALSE(recorded.world.everyone("others")->barrier().wait()) << "it stayed until then";
    }
  });
}

TEST(RecordedWorld, ALostPeerReadsAsWithoutIt) {
  testing::run_ranks(2, [](World& beneath) {
    Recorded recorded(beneath);
    auto group = recorded.world.everyone("all");
    if (beneath.rank() == 1) {
      testing::vanish(beneath);
      return;
    }
    const Result<void> lost = group->barrier().wait();
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, ErrorCode::kPeerLost);
    EXPECT_EQ(lost.error().origin_rank, 1);
  });
}

TEST(RecordedWorld, DroppingAPendingWorkEndsTheWorldAsWithoutIt) {
  testing::run_ranks(2, [](World& beneath) {
    Recorded recorded(beneath);
    auto group = recorded.world.everyone("all");
    if (beneath.rank() == 1) {
      Floats values(1);
      { Work dropped = group->receive({bytes_in(values)}, 0, 1); }
      ASSERT_EQ(recorded.timeline->spans().size(), 1U);
    }
    const Result<void> dead = group->barrier().wait();
    ASSERT_FALSE(dead);
    EXPECT_NE(dead.error().text.find("dropped"), std::string::npos) << dead.error().text;
  });
}

TEST(RecordedWorld, OwnsAWorldAndWorksMayOutliveIt) {
  auto worlds = in_process_worlds(1, milliseconds(1000));
  auto timeline = std::make_shared<Timeline>();
  auto world = std::make_unique<RecordedWorld>(std::move(worlds[0]), timeline);
  auto group = world->everyone("all");
  Work work = group->barrier();
  world->close();
  group.reset();
  world.reset();
  EXPECT_TRUE(work.wait());
  EXPECT_EQ(timeline->spans().size(), 1U);
}

TEST(RecordedWorld, OtherThreadsWorkUnrecorded) {
  testing::run_ranks(2, [](World& beneath) {
    Recorded recorded(beneath);
    auto group = recorded.world.everyone("checkpoint");
    std::thread([&] {
      EXPECT_TRUE(group->barrier().wait());
      auto own = recorded.world.everyone("made there");
      EXPECT_TRUE(own->barrier().wait());
    }).join();
    EXPECT_TRUE(recorded.timeline->spans().empty());
    EXPECT_EQ(recorded.timeline->groups().size(), 1U);
    ASSERT_TRUE(group->barrier().wait());
    EXPECT_EQ(recorded.timeline->spans().at(0).sequence, 1U) << "counted there all the same";
  });
}

}  // namespace
}  // namespace brigade::collective
