// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/planned.h"

#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "parallel/tensor/program.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::CastKind;
using sharding::OpPlan;
using sharding::PartitionSpec;
using sharding::TensorType;

const TensorType kRows{DType::kFloat32, {4, 6}, PartitionSpec({{"x"}})};
const TensorType kWhole{DType::kFloat32, {4, 6}, PartitionSpec()};

OpPlan gathering_plan() {
  OpPlan plan;
  plan.inputs = {{{CastKind::kGatherReduced,
                   {"x"},
                   0,
                   -1,
                   {DType::kFloat32, {4, 6}, PartitionSpec().with_reduced({"x"})}}}};
  plan.local_result = kWhole;
  plan.reason = "why";
  return plan;
}

TEST(Planned, HoldsEachCastWithItsDual) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const TypeRecord* operand = &program.record(kRows);
    Planned planned;
    prepare(program, gathering_plan(), {&operand, 1}, planned);
    ASSERT_EQ(planned.inputs.size(), 1U);
    ASSERT_EQ(planned.inputs[0].steps.size(), 1U);
    const PlannedCast& cast = planned.inputs[0].steps[0];
    EXPECT_EQ(cast.from, operand);
    EXPECT_EQ(cast.back.kind, CastKind::kReduceScatter);
    EXPECT_EQ(cast.back.to, kRows);
    EXPECT_EQ(cast.cotangent->type.spec, PartitionSpec().with_unreduced({"x"}));
    EXPECT_EQ(cast.cause, &planned);
    EXPECT_EQ(planned.inputs[0].to, cast.to);
    EXPECT_EQ(planned.local_result, &program.record(kWhole));
    EXPECT_EQ(planned.output.to, nullptr);
  });
}

TEST(Planned, KeepsOnlyTheTypeOfACastOverOneRank) {
  on_mesh({{"x", 1}}, [](Program& program) {
    const TypeRecord* operand = &program.record(kRows);
    Planned planned;
    prepare(program, gathering_plan(), {&operand, 1}, planned);
    EXPECT_TRUE(planned.inputs[0].steps.empty());
    EXPECT_EQ(planned.inputs[0].to->type.spec, PartitionSpec().with_reduced({"x"}));
  });
}

TEST(Planned, CastsNoOperandOfAPlanWithoutInputs) {
  on_mesh({{"x", 2}}, [](Program& program) {
    OpPlan plan = gathering_plan();
    plan.inputs.clear();
    const TypeRecord* operand = &program.record(kRows);
    Planned planned;
    prepare(program, plan, {&operand, 1}, planned);
    ASSERT_EQ(planned.inputs.size(), 1U);
    EXPECT_EQ(planned.inputs[0].to, nullptr);
    plan.inputs.resize(2);
    Planned other;
    EXPECT_THROW(prepare(program, plan, {&operand, 1}, other), CheckFailure);
  });
}

}  // namespace
}  // namespace brigade::tensor
