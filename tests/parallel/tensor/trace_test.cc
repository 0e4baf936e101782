// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/trace.h"

#include <gtest/gtest.h>

namespace brigade::tensor {
namespace {

TEST(Trace, KeepsTheOpsOfTheCallsUnderWay) {
  const TracedOp a{1, "a"};
  const TracedOp b{2, "b"};
  Trace trace;
  trace.note(a);  // nobody asks
  {
    const Trace::Call outer(trace);
    trace.note(a);
    {
      const Trace::Call inner(trace);
      EXPECT_TRUE(inner.ops().empty());
      trace.note(b);
      ASSERT_EQ(inner.ops().size(), 1U);
      EXPECT_EQ(inner.ops()[0], &b);
    }
    ASSERT_EQ(outer.ops().size(), 2U);
    EXPECT_EQ(outer.ops()[0], &a);
  }
  const Trace::Call next(trace);
  EXPECT_TRUE(next.ops().empty());
}

}  // namespace
}  // namespace brigade::tensor
