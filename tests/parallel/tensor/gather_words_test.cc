// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/gather_words.h"

#include <array>

#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

TEST(GatherWords, GivesEveryRanksWordsInRankOrder) {
  on_mesh({{"x", 2}, {"y", 3}}, [](Program& program) {
    const uint64_t rank = static_cast<uint64_t>(program.rank());
    const std::vector<uint64_t> all =
        gather_words(program, std::array<uint64_t, 2>{rank, 10 * rank});
    EXPECT_EQ(all, (std::vector<uint64_t>{0, 0, 1, 10, 2, 20, 3, 30, 4, 40, 5, 50}));
    EXPECT_TRUE(program.ledger().entries().empty());
  });
}

TEST(GatherWords, OfOneRankIsItsOwn) {
  on_mesh({{"x", 1}}, [](Program& program) {
    EXPECT_EQ(gather_words(program, std::array<uint64_t, 1>{7}), std::vector<uint64_t>{7});
    EXPECT_TRUE(gather_words(program, {}).empty());
  });
}

}  // namespace
}  // namespace brigade::tensor
