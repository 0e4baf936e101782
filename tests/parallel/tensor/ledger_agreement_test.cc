// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ledger_agreement.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::CastKind;

void write(Program& program, const std::string& axis, int64_t bytes) {
  program.ledger().write({CastKind::kAllReduce, {axis}, bytes, Pass::kForward, "test", "test"});
}

TEST(LedgerAgreement, HoldsWhereTheMembersOfEachGroupWroteTheSame) {
  on_mesh({{"x", 2}, {"y", 3}}, [](Program& program) {
    // Groups along y differ from one another, as they may where rows do not divide.
    write(program, "y", program.rank() < 3 ? 8 : 16);
    write(program, "x", 4);
    EXPECT_TRUE(agree_on_ledgers(program));
    program.ledger().clear();
    EXPECT_TRUE(agree_on_ledgers(program));
  });
}

TEST(LedgerAgreement, TellsEveryRankThatOneDiffersWithinItsGroup) {
  on_mesh({{"x", 2}, {"y", 3}}, [](Program& program) {
    write(program, "y", program.rank() == 4 ? 9 : 8);
    const Result<void> agreed = agree_on_ledgers(program);
    ASSERT_FALSE(agreed);
    EXPECT_EQ(agreed.error().code, ErrorCode::kMismatch);
    const std::string& text = agreed.error().text;
    if (program.rank() < 3) {
      EXPECT_NE(text.find("3 other ranks differ"), std::string::npos) << text;
    } else if (program.rank() == 4) {
      EXPECT_NE(text.find("group y of rank 4 (1 collectives) differs from that of ranks 3, 5"),
                std::string::npos)
          << text;
    } else {
      EXPECT_NE(text.find("differs from that of rank 4"), std::string::npos) << text;
    }
  });
}

TEST(LedgerAgreement, SeesAGroupThatOneMemberNeverUsed) {
  on_mesh({{"x", 2}}, [](Program& program) {
    if (program.rank() == 0) {
      write(program, "x", 8);
    }
    EXPECT_FALSE(agree_on_ledgers(program));
  });
}

}  // namespace
}  // namespace brigade::tensor
