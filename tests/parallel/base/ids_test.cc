// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/ids.h"

#include <sstream>
#include <type_traits>
#include <unordered_set>

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(Ids, DoNotConvertIntoEachOtherOrFromIntegers) {
  static_assert(!std::is_convertible_v<StageId, MicrobatchId>);
  static_assert(!std::is_constructible_v<StageId, MicrobatchId>);
  static_assert(!std::is_convertible_v<int64_t, StageId>);
  EXPECT_EQ(StageId(3).value(), 3);
}

TEST(Ids, MeanNoneUntilSet) {
  EXPECT_EQ(StageId().value(), -1);
  EXPECT_NE(StageId(), StageId(0));
}

TEST(Ids, CompareByValue) {
  EXPECT_LT(MicrobatchId(1), MicrobatchId(2));
  EXPECT_EQ(MicrobatchId(2), MicrobatchId(2));
}

TEST(Ids, PrintAndHashAsTheirValue) {
  std::ostringstream out;
  out << StageId(12);
  EXPECT_EQ(out.str(), "12");
  const std::unordered_set<StageId> set = {StageId(1), StageId(1), StageId(2)};
  EXPECT_EQ(set.size(), 2U);
}

}  // namespace
}  // namespace brigade
