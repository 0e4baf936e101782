// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/same_ops.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/philox.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using ::testing::EndsWith;

/// What expect_same_ops says on every rank when rank r ran `names[r]`.
void expect_verdict(const std::vector<std::vector<std::string>>& names,
                    const std::string& verdict) {
  on_mesh({{"x", static_cast<int64_t>(names.size())}}, [&](Program& program) {
    std::vector<TracedOp> ops;
    for (const std::string& name : names[static_cast<size_t>(program.rank())]) {
      ops.push_back({random_stream("op", name), name});
    }
    std::vector<const TracedOp*> trace;
    for (const TracedOp& op : ops) {
      trace.push_back(&op);
    }
    try {
      expect_same_ops(program, trace, "here");
      EXPECT_EQ(verdict, "");
    } catch (const Exception& exception) {
      EXPECT_EQ(exception.error().code, ErrorCode::kMismatch);
      EXPECT_THAT(exception.error().text, EndsWith(verdict));
      EXPECT_NE(verdict, "") << exception.error().text;
    }
  });
}

TEST(SameOps, SaysNothingWhereAllAgree) {
  expect_verdict({{"a", "b"}, {"a", "b"}, {"a", "b"}}, "");
  expect_verdict({{}, {}}, "");
  expect_verdict({{"a"}}, "");
}

TEST(SameOps, NamesTheFirstDifference) {
  expect_verdict({{"a", "b", "c"}, {"a", "x", "y"}}, "at op 1 rank 0 ran b; rank 1 ran x");
  expect_verdict({{"a", "b"}, {"b", "a"}, {"a", "b"}}, "at op 0 ranks 0, 2 ran a; rank 1 ran b");
  expect_verdict({{"a"}, {"a", "b"}}, "at op 1 rank 0 ran nothing more; rank 1 ran b");
  expect_verdict({{}, {"a"}, {"b"}}, "at op 0 rank 0 ran nothing more; rank 1 ran a; rank 2 ran b");
}

TEST(SameOps, CutsATextThatIsTooLong) {
  expect_verdict({{std::string(2000, 'a')}, {"b"}},
                 "rank 0 ran " + std::string(511, 'a') + "; rank 1 ran b");
}

}  // namespace
}  // namespace brigade::tensor
