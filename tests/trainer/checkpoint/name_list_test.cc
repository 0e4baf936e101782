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

TEST(NoSuchTensor, CountsThoseThereAreAndNamesTheNearest) {
  const std::map<std::string, int> tensors = {{"lm_head.weight", 1}, {"norm", 2}};
  EXPECT_EQ(no_such_tensor("file", "lm_haed.weight", tensors),
            "file: no tensor lm_haed.weight among 2 (did you mean lm_head.weight?)");
  EXPECT_EQ(no_such_tensor("file", "quite.another", tensors),
            "file: no tensor quite.another among 2");
}

}  // namespace
}  // namespace brigade::checkpoint
