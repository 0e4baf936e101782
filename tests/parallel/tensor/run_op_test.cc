// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/run_op.h"

#include <array>
#include <malloc.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/base/check.h"
#include "parallel/tensor/ops/einsum.h"
#include "parallel/tensor/ops/elementwise.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::OpPlan;
using sharding::PartitionSpec;

const PartitionSpec kRows({{"x"}});

/// Both operands gathered, added, sliced again.
const Planned& roundabout(Program& program, const ShardedTensor& a, const ShardedTensor& b) {
  return program.plan(PlanKey("roundabout", a, b), [&]() -> Result<OpPlan> {
    const auto gather = value_or_throw(plan_reshard(program.mesh(), a.type(), PartitionSpec()));
    OpPlan plan;
    plan.inputs = {gather, gather};
    plan.local_result = gather.back().to;
    plan.output = value_or_throw(plan_reshard(program.mesh(), plan.local_result, kRows));
    plan.reason = "test";
    return plan;
  });
}

TEST(RunOp, CastsOperandsComputesAndCastsTheResult) {
  for (const int64_t ranks : {1, 3}) {
    on_mesh({{"x", ranks}}, [&](Program& program) {
      const at::Tensor whole = numbers({5, 2}, 0.1);
      const ShardedTensor a = place(program, whole, kRows);
      const Planned& planned = roundabout(program, a, a);
      program.ledger().clear();
      const ShardedTensor two = run(
          planned,
          [&](const at::Tensor& left, const at::Tensor& right) {
            EXPECT_EQ(left.sizes(), whole.sizes());
            return left + right;
          },
          a,
          a);
      EXPECT_EQ(two.type(), a.type());
      EXPECT_TRUE(at::equal(two.local(), a.local() * 2));
      EXPECT_EQ(program.ledger().entries().size(), ranks > 1 ? 2U : 0U);
      const std::array<ShardedTensor, 2> operands = {a, a};
      const ShardedTensor listed = run(
          planned, [](const std::vector<at::Tensor>& all) { return all[0] + all[1]; }, operands);
      EXPECT_TRUE(at::equal(listed.local(), two.local()));
      const auto first = [](const std::vector<at::Tensor>& all) { return all[0]; };
      EXPECT_THROW(run(planned, first, std::span(operands).first(1)), CheckFailure);
    });
  }
}

/// Products, casts that communicate, and their backward.
void small_step(const ShardedTensor& x, const ShardedTensor& w) {
  x.program().ledger().clear();
  const ShardedTensor y = einsum("bd,hd->bh", x, w);
  const ShardedTensor z = reshard(add(y, y), PartitionSpec(), "test");
  torch::autograd::backward({z.local()}, {at::ones_like(z.local())});
}

int64_t bytes_in_use() {
  return static_cast<int64_t>(mallinfo2().uordblks);
}

TEST(RunOp, KeepsTheHeapLevelFromStepToStep) {
  on_mesh({{"x", 1}}, [](Program& program) {
    const auto leaf = [&](at::IntArrayRef sizes, const PartitionSpec& spec) {
      const ShardedTensor piece = place(program, numbers(sizes, 0.2), spec);
      return ShardedTensor(program, piece.type(), piece.local().clone().set_requires_grad(true));
    };
    const ShardedTensor x = leaf({6, 4}, kRows);
    const ShardedTensor w = leaf({5, 4}, PartitionSpec().with_reduced({"x"}));
    constexpr int64_t kSteps = 400;
    for (int64_t step = 0; step < kSteps; ++step) {
      small_step(x, w);
    }
    const int64_t plans = program.plans_made();
    const int64_t before = bytes_in_use();
    for (int64_t step = 0; step < kSteps; ++step) {
      small_step(x, w);
    }
    constexpr int64_t kSmallestBlock = 32;
    EXPECT_LT(bytes_in_use() - before, kSteps * kSmallestBlock) << "a block a step was kept";
    EXPECT_EQ(program.plans_made(), plans);
  });
}

TEST(RunOp, ChecksThatTheLocalResultIsAsPlanned) {
  on_mesh({{"x", 1}}, [](Program& program) {
    const ShardedTensor a = place(program, numbers({5, 2}, 0.1), kRows);
    const Planned& planned = roundabout(program, a, a);
    const auto wrong = [](const at::Tensor& left, const at::Tensor&) { return left.sum(0); };
    EXPECT_THROW(run(planned, wrong, a, a), CheckFailure);
  });
}

}  // namespace
}  // namespace brigade::tensor
