// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/name_list.h"

#include <vector>

#include <gtest/gtest.h>

namespace brigade::checkpoint {
namespace {

TEST(NameList, ShowsTenNamesAndCountsTheRest) {
  std::vector<std::string> names = {"a", "b"};
  EXPECT_EQ(name_list(names), "2 (a, b)");
  names.assign(10, "n");
  EXPECT_EQ(name_list(names), "10 (n, n, n, n, n, n, n, n, n, n)");
  names.resize(12, "late");
  EXPECT_EQ(name_list(names), "12 (n, n, n, n, n, n, n, n, n, n, and 2 more)");
}

}  // namespace
}  // namespace brigade::checkpoint
