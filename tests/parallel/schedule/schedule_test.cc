// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/schedule.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/parallel/schedule/replay.h"

namespace brigade::schedule {
namespace {

constexpr int64_t kForwardTime = 2;
constexpr int64_t kBackwardTime = 5;

/// Calls `check(request)` for every kind, ranks to 8 and microbatches to 12.
template <class Check>
void for_each_request(const Check& check) {
  for (const Kind kind : {Kind::kGPipe, Kind::kOneForwardOneBackward}) {
    for (int64_t ranks = 1; ranks <= 8; ++ranks) {
      for (int64_t microbatches = 1; microbatches <= 12; ++microbatches) {
        SCOPED_TRACE(concat(to_string(kind), " p", ranks, " m", microbatches));
        check(Request{kind, ranks, microbatches});
      }
    }
  }
}

TEST(Schedule, EveryGeneratedOneIsValid) {
  for_each_request([](const Request& request) {
    const auto valid = validate(value_or_throw(generate(request)));
    EXPECT_TRUE(valid) << valid.error().text;
  });
}

TEST(Schedule, TakesTheTimeThatTheBubbleFormulaSays) {
  for_each_request([](const Request& request) {
    const Replay run = replay(value_or_throw(generate(request)), kForwardTime, kBackwardTime);
    EXPECT_TRUE(run.finished);
    EXPECT_EQ(run.makespan,
              (request.ranks - 1 + request.microbatches) * (kForwardTime + kBackwardTime));
  });
}

TEST(Schedule, KeepsAsManyActivationsAsTheMemoryFormulaSays) {
  for_each_request([](const Request& request) {
    const Replay run = replay(value_or_throw(generate(request)), kForwardTime, kBackwardTime);
    for (int64_t rank = 0; rank < request.ranks; ++rank) {
      const int64_t formula = request.kind == Kind::kGPipe
                                  ? request.microbatches
                                  : std::min(request.microbatches, request.ranks - rank);
      EXPECT_EQ(run.peak_in_flight[static_cast<size_t>(rank)], formula) << "rank " << rank;
    }
  });
}

TEST(Schedule, RefusesToBeEmpty) {
  const auto no_microbatch = generate({Kind::kGPipe, 4, 0});
  ASSERT_FALSE(no_microbatch);
  EXPECT_EQ(no_microbatch.error().code, ErrorCode::kUsage);
  EXPECT_EQ(no_microbatch.error().text,
            "a schedule needs at least 1 pipeline rank and 1 microbatch; found 4 ranks and 0 "
            "microbatches");
  EXPECT_FALSE(generate({Kind::kGPipe, 0, 4}));
}

TEST(Schedule, KindIsReadFromItsName) {
  EXPECT_EQ(parse_kind("1F1B"), Kind::kOneForwardOneBackward);
  EXPECT_EQ(parse_kind("GPipe"), Kind::kGPipe);
}

TEST(Schedule, MisspelledKindNamesTheNearest) {
  const auto kind = parse_kind("gpipe");
  ASSERT_FALSE(kind);
  EXPECT_EQ(kind.error().text,
            "expected a pipeline schedule, one of GPipe, 1F1B (did you mean GPipe?); found "
            "\"gpipe\"");
  EXPECT_EQ(parse_kind("DualPipeV").error().text,
            "expected a pipeline schedule, one of GPipe, 1F1B; found \"DualPipeV\"");
}

}  // namespace
}  // namespace brigade::schedule
