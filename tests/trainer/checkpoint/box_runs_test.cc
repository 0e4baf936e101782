// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/box_runs.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::checkpoint {
namespace {

using sharding::Box;
using Piece = checkpoint::Run;  // a Test has a Run() of its own
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Piece> runs(const Box& source, const Box& target, uint64_t element = 1) {
  std::vector<Piece> found;
  EXPECT_TRUE(for_each_run(source, target, element, [&](const Piece& run) {
    found.push_back(run);
    return Result<void>();
  }));
  return found;
}

TEST(BoxRuns, AreOneWhereBothLieTogether) {
  const Box whole = {{{0, 6}, {0, 4}}};
  EXPECT_THAT(runs(whole, whole, 4), ElementsAre(Piece{0, 0, 96}));
  EXPECT_THAT(runs(whole, {{{2, 5}, {0, 4}}}, 4), ElementsAre(Piece{32, 0, 48}));
  EXPECT_THAT(runs({{{2, 5}, {0, 4}}}, whole, 4), ElementsAre(Piece{0, 32, 48}));
}

TEST(BoxRuns, AreOnePerRowOfPartOfTheColumns) {
  EXPECT_THAT(runs({{{0, 3}, {0, 4}}}, {{{1, 3}, {1, 3}}}),
              ElementsAre(Piece{5, 0, 2}, Piece{9, 2, 2}));
  EXPECT_THAT(runs({{{0, 2}, {0, 3}}}, {{{0, 2}, {1, 5}}}),
              ElementsAre(Piece{1, 0, 2}, Piece{4, 4, 2}));
}

TEST(BoxRuns, AreNoneWithoutACommonElement) {
  EXPECT_THAT(runs({{{0, 2}}}, {{{2, 4}}}), IsEmpty());
  EXPECT_THAT(runs({{{0, 2}, {1, 1}}}, {{{0, 2}, {0, 4}}}), IsEmpty());
}

TEST(BoxRuns, OfAScalarAreItsElement) {
  EXPECT_THAT(runs({}, {}, 8), ElementsAre(Piece{0, 0, 8}));
}

TEST(BoxRuns, EndAtTheFirstError) {
  int calls = 0;
  const Result<void> done =
      for_each_run({{{0, 3}, {0, 2}}}, {{{0, 3}, {0, 1}}}, 1, [&](const Piece&) -> Result<void> {
        calls += 1;
        return fail(ErrorCode::kData, "no");
      });
  EXPECT_FALSE(done);
  EXPECT_EQ(calls, 1);
}

/// Element of a 3-D tensor as one number.
int at(int64_t i, int64_t j, int64_t k) {
  return static_cast<int>(100 * i + 10 * j + k);
}

std::vector<int> values_of(const Box& box) {
  std::vector<int> values;
  for (int64_t i = box.dims[0].begin; i < box.dims[0].end; ++i) {
    for (int64_t j = box.dims[1].begin; j < box.dims[1].end; ++j) {
      for (int64_t k = box.dims[2].begin; k < box.dims[2].end; ++k) {
        values.push_back(at(i, j, k));
      }
    }
  }
  return values;
}

// All pairs of boxes of a small tensor: what is moved is what both have, and nothing else.
TEST(BoxRuns, MoveExactlyWhatIsShared) {
  std::vector<Box> boxes;
  for (const auto& i : {sharding::Interval{0, 2}, {1, 3}, {0, 3}}) {
    for (const auto& j : {sharding::Interval{0, 4}, {1, 2}, {2, 4}}) {
      for (const auto& k : {sharding::Interval{0, 2}, {1, 2}}) {
        boxes.push_back({{i, j, k}});
      }
    }
  }
  for (const Box& source : boxes) {
    const std::vector<int> from = values_of(source);
    for (const Box& target : boxes) {
      std::vector<int> to(static_cast<size_t>(target.element_count()), -1);
      uint64_t last = 0;
      for (const Piece& run : runs(source, target)) {
        EXPECT_GE(run.from, last);  // ascending
        last = run.from + run.bytes;
        for (uint64_t e = 0; e < run.bytes; ++e) {
          to[run.to + e] = from[run.from + e];
        }
      }
      std::vector<int> wanted = values_of(target);
      const std::vector<int> shared = values_of(intersect(source, target));
      for (int& value : wanted) {
        if (std::find(shared.begin(), shared.end(), value) == shared.end()) {
          value = -1;
        }
      }
      EXPECT_EQ(to, wanted);
    }
  }
}

}  // namespace
}  // namespace brigade::checkpoint
