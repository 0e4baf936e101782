// SPDX-License-Identifier: Apache-2.0
// What goes wrong, and what every rank then says, over every engine.
#include <chrono>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/collective/world.h"
#include "tests/parallel/collective/engines.h"

namespace brigade::collective {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

class Failures : public ::testing::TestWithParam<testing::EngineCase> {
 protected:
  /// Runs `function` on all ranks; what it returns is the rank's error.
  std::vector<Error> errors(const std::function<Error(World&, Communicator&)>& function,
                            milliseconds timeout = milliseconds(20000)) {
    std::mutex mutex;
    std::vector<Error> all(static_cast<size_t>(ranks()));
    testing::run_engine(
        GetParam(),
        [&](World& world) {
          auto group = world.everyone("dp#3");
          Error error = function(world, *group);
          const std::lock_guard<std::mutex> lock(mutex);
          all[static_cast<size_t>(world.rank())] = std::move(error);
        },
        timeout);
    return all;
  }
  int64_t ranks() const { return GetParam().ranks; }
};

Error error_of(Result<void> result) {
  return result ? Error{ErrorCode::kInternal, "no error"} : result.error();
}

Error all_reduce(Communicator& group, size_t floats) {
  std::vector<float> values(floats, 1.0F);
  return error_of(
      group.all_reduce({bytes_of(std::span(values))}, DType::kFloat32, ReduceOp::kSum).wait());
}

class Mismatches : public Failures {
 protected:
  /// `odd` on the last rank, `even` on the others: all fail soon, with the same words.
  void expect(const std::function<Error(Communicator&)>& even,
              const std::function<Error(Communicator&)>& odd,
              const std::string& even_text,
              const std::string& odd_text) {
    const Clock::time_point start = Clock::now();
    const std::vector<Error> all = errors([&](World& world, Communicator& group) {
      return world.rank() == world.size() - 1 ? odd(group) : even(group);
    });
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
    for (const Error& error : all) {
      EXPECT_EQ(error.code, ErrorCode::kMismatch) << error.text;
      EXPECT_THAT(error.text, AllOf(HasSubstr("dp#3 seq 0"), HasSubstr(even_text)));
      EXPECT_THAT(error.text, HasSubstr("rank " + std::to_string(ranks() - 1) + " " + odd_text));
      EXPECT_EQ(error.origin_rank, ranks() - 1) << error.text;
    }
  }
};

TEST_P(Mismatches, R055_OfLengthAreNamedOnAllRanks) {
  expect([](Communicator& group) { return all_reduce(group, 100); },
         [](Communicator& group) { return all_reduce(group, 200); },
         "rank 0 all_reduce f32[100]",
         "all_reduce f32[200]");
}

TEST_P(Mismatches, R055_OfLengthAreNamedForLongBuffersToo) {
  expect([](Communicator& group) { return all_reduce(group, 1'000'000); },
         [](Communicator& group) { return all_reduce(group, 10); },
         "rank 0 all_reduce f32[1000000]",
         "all_reduce f32[10]");
}

TEST_P(Mismatches, R055_OfTypeWithEqualBytesAreNamedOnAllRanks) {
  expect(
      [](Communicator& group) { return all_reduce(group, 100); },
      [](Communicator& group) {
        std::vector<int64_t> values(50);
        return error_of(
            group.all_reduce({bytes_of(std::span(values))}, DType::kInt64, ReduceOp::kSum).wait());
      },
      "rank 0 all_reduce f32[100]",
      "all_reduce i64[50]");
}

TEST_P(Mismatches, R055_OfOneCallAgainstTwoHalvesAreNamedOnAllRanks) {
  expect([](Communicator& group) { return all_reduce(group, 4); },
         [](Communicator& group) {
           std::vector<float> values(2);
           Work first =
               group.all_reduce({bytes_of(std::span(values))}, DType::kFloat32, ReduceOp::kSum);
           std::vector<float> more(2);
           Work second =
               group.all_reduce({bytes_of(std::span(more))}, DType::kFloat32, ReduceOp::kSum);
           const Error error = error_of(first.wait());
           EXPECT_FALSE(second.wait());
           return error;
         },
         "rank 0 all_reduce f32[4]",
         "all_reduce f32[2]");
}

Error all_gather(Communicator& group, size_t floats) {
  std::vector<float> all(floats * static_cast<size_t>(group.size()));
  std::vector<Spans> parts;
  for (size_t d = 0; d < static_cast<size_t>(group.size()); ++d) {
    parts.push_back({bytes_of(std::span(all).subspan(d * floats, floats))});
  }
  const Spans mine = parts[static_cast<size_t>(group.rank())];
  return error_of(group.all_gather({mine[0]}, parts).wait());
}

TEST_P(Mismatches, R055_OfOperationAreNamedOnAllRanks) {
  expect([](Communicator& group) { return all_reduce(group, 100); },
         [](Communicator& group) { return all_gather(group, 100); },
         "rank 0 all_reduce f32[100]",
         "all_gather of");
}

TEST_P(Mismatches, R055_OfOrderAreNamedOnAllRanks) {
  expect(
      [](Communicator& group) {
        const Error error = all_reduce(group, 100'000);
        EXPECT_FALSE(group.barrier().wait());
        return error;
      },
      [](Communicator& group) {
        const Error error = error_of(group.barrier().wait());
        EXPECT_EQ(all_reduce(group, 100'000).code, ErrorCode::kMismatch);
        return error;
      },
      "rank 0 all_reduce f32[100000]",
      "barrier");
}

TEST_P(Mismatches, OfRootAreNamedOnAllRanks) {
  const auto broadcast = [](Communicator& group, int root) {
    std::vector<float> values(100'000);
    return error_of(group.broadcast({bytes_of(std::span(values))}, root).wait());
  };
  expect([&](Communicator& group) { return broadcast(group, 0); },
         [&](Communicator& group) { return broadcast(group, 1); },
         "rank 0 broadcast of 400000 B from member 0",
         "broadcast of 400000 B from member 1");
}

TEST_P(Failures, MessagesOfAnotherLengthAreAMismatchAndLeaveTheMemoryAlone) {
  const std::vector<Error> all = errors([](World& world, Communicator& group) {
    std::vector<float> values(world.rank() == 0 ? 50'000 : 20, 7.0F);
    if (world.rank() == 0) {
      Work work = group.send({bytes_of(std::span(values))}, 1, 5);
      const Result<void> sent = work.wait();  // the receiver notices, sooner or later than this
      return sent ? error_of(group.barrier().wait()) : sent.error();
    }
    if (world.rank() == 1) {
      const Error error = error_of(group.receive({bytes_of(std::span(values))}, 0, 5).wait());
      EXPECT_EQ(values, std::vector<float>(20, 7.0F));
      return error;
    }
    return error_of(group.barrier().wait());
  });
  for (const Error& error : all) {
    EXPECT_EQ(error.code, ErrorCode::kMismatch) << error.text;
    EXPECT_THAT(error.text,
                HasSubstr("dp#3 tag 5: rank 0 sends message of 200000 B, rank 1 expects message"
                          " of 80 B"));
  }
}

TEST_P(Failures, AnAbortReachesEveryRankInTheMiddleOfACollective) {
  const std::vector<Error> all = errors([](World& world, Communicator& group) {
    if (world.rank() == 1) {
      world.abort({ErrorCode::kNonFinite, "the loss is NaN"});
      world.abort({ErrorCode::kIo, "and then the disk was full"});
      return *world.failure();
    }
    return all_reduce(group, 100'000);
  });
  for (size_t rank = 0; rank < all.size(); ++rank) {
    EXPECT_EQ(all[rank].code, rank == 1 ? ErrorCode::kNonFinite : ErrorCode::kAborted);
    EXPECT_EQ(all[rank].text, "the loss is NaN");
    EXPECT_EQ(all[rank].origin_rank, 1);
  }
}

TEST_P(Failures, AfterOneEveryLaterCallFailsAlikeAtOnce) {
  errors([](World& world, Communicator& group) {
    if (world.rank() == 0) {
      world.abort({ErrorCode::kIo, "the disk is full"});
    }
    const Error first = error_of(group.barrier().wait());
    auto other = world.group(group.members(), "other");
    for (const Error& later : {all_reduce(*other, 100), all_gather(group, 100'000)}) {
      EXPECT_EQ(later, first);
    }
    EXPECT_EQ(world.failure()->text, "the disk is full");
    return first;
  });
}

TEST_P(Failures, ARankThatThrowsIsTheOriginForAllOthers) {
  std::mutex mutex;
  std::vector<Error> seen;
  const auto run = [&] {
    testing::run_engine(GetParam(), [&](World& world) {
      if (world.rank() > 1) {
        return;
      }
      auto group = world.group({0, 1}, "pair");
      if (world.rank() == 1) {
        std::vector<float> values(100'000);
        Work pending =
            group->all_reduce({bytes_of(std::span(values))}, DType::kFloat32, ReduceOp::kSum);
        throw std::runtime_error("boom");
      }
      if (world.rank() == 0) {
        const Error error = error_of(group->barrier().wait());
        const std::lock_guard<std::mutex> lock(mutex);
        seen.push_back(error);
      }
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].origin_rank, 1);
}

TEST_P(Failures, ALateRankIsNamedByEveryOther) {
  const int64_t late = ranks() - 1;
  std::mutex mutex;
  const std::vector<Error> all = errors(
      [&](World& world, Communicator& group) {
        if (world.rank() == late) {
          std::this_thread::sleep_for(milliseconds(2500));
          return error_of(group.barrier().wait());
        }
        if (world.rank() == 0 && world.size() > 2) {  // waits for a rank that waits itself
          auto pair = world.group({0, 1}, "pair");
          return all_reduce(*pair, 10);
        }
        return all_reduce(group, 1000);
      },
      milliseconds(1000));
  for (const Error& error : all) {
    EXPECT_EQ(error.code, ErrorCode::kTimeout) << error.text;
    EXPECT_EQ(error.origin_rank, late) << error.text;
    EXPECT_THAT(error.text, HasSubstr("rank " + std::to_string(late) + " is alive but has not"));
  }
}

TEST_P(Failures, ARankThatVanishesIsNamedByEveryOther) {
  const int64_t lost = ranks() - 1;
  const std::vector<Error> all = errors([&](World& world, Communicator& group) {
    if (world.rank() == lost) {
      testing::vanish(world);
      return Error{ErrorCode::kPeerLost, "this one", static_cast<int>(lost)};
    }
    return all_reduce(group, 500'000);
  });
  for (const Error& error : all) {
    EXPECT_EQ(error.code, ErrorCode::kPeerLost) << error.text;
    EXPECT_EQ(error.origin_rank, lost) << error.text;
  }
}

TEST_P(Failures, ARankThatLeftIsMissedOnlyByThoseWhoNeedIt) {
  const int64_t gone = ranks() - 1;
  std::latch rest_is_done(gone);  // else the first to miss `gone` ends the rest's reduction
  const std::vector<Error> all = errors([&](World& world, Communicator& group) {
    // Whoever is done has sent all that the others need for it.
    EXPECT_EQ(all_reduce(group, 10).text, "no error");
    if (world.rank() == gone) {
      world.close();
      return Error{ErrorCode::kPeerLost, "this one", static_cast<int>(gone)};
    }
    std::vector<int64_t> rest(group.members().begin(), group.members().end() - 1);
    auto others = world.group(rest, "rest");
    std::this_thread::sleep_for(milliseconds(100));
    EXPECT_EQ(all_reduce(*others, 100'000).text, "no error");
    rest_is_done.arrive_and_wait();
    return all_reduce(group, 10);
  });
  for (const Error& error : all) {
    EXPECT_EQ(error.code, ErrorCode::kPeerLost) << error.text;
    EXPECT_EQ(error.origin_rank, gone) << error.text;
  }
}

TEST_P(Failures, DroppingAPendingWorkAbortsTheWorldAndFreesItsMemory) {
  const std::vector<Error> all = errors([](World& world, Communicator& group) {
    if (world.rank() == 0) {
      auto values = std::make_shared<std::vector<float>>(300'000);
      {
        Work work = group.all_reduce(
            {bytes_of(std::span(*values))}, DType::kFloat32, ReduceOp::kSum, values);
        EXPECT_FALSE(work.done());
      }
      EXPECT_EQ(values.use_count(), 1);
      return *world.failure();
    }
    std::this_thread::sleep_for(milliseconds(100));
    return all_reduce(group, 300'000);
  });
  for (const Error& error : all) {
    EXPECT_EQ(error.code, ErrorCode::kAborted) << error.text;
    EXPECT_EQ(error.origin_rank, 0);
    EXPECT_THAT(error.text, HasSubstr("dropped all_reduce f32[300000] in dp#3 seq 0"));
  }
}

TEST_P(Failures, AFinishedWorkLetsGoOfWhatItKept) {
  errors([](World&, Communicator& group) {
    auto values = std::make_shared<std::vector<float>>(1000);
    Work work =
        group.all_reduce({bytes_of(std::span(*values))}, DType::kFloat32, ReduceOp::kSum, values);
    EXPECT_TRUE(work.wait());
    EXPECT_EQ(values.use_count(), 1);
    EXPECT_TRUE(work.wait());
    return Error{};
  });
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         Failures,
                         ::testing::ValuesIn(testing::engine_cases({2, 4})),
                         testing::engine_name);
INSTANTIATE_TEST_SUITE_P(Engines,
                         Mismatches,
                         ::testing::ValuesIn(testing::engine_cases({2, 3, 4})),
                         testing::engine_name);

}  // namespace
}  // namespace brigade::collective
