// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/program.h"

#include <future>
#include <set>
#include <string>

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"
#include "tests/support/rank_threads.h"

namespace brigade::tensor {
namespace {

using sharding::OpPlan;

TEST(Program, MakesAGroupOncePerSetOfAxes) {
  const mesh::Mesh mesh = value_or_throw(mesh::Mesh::create({{"x", 2}, {"y", 2}}));
  testing::run_ranks(4, [&](collective::World& world) {
    std::multiset<std::string> made;
    Program program(mesh, world.rank(), [&](const auto& members, const std::string& name) {
      made.insert(name);
      return world.group(members, name);
    });
    EXPECT_EQ(&program.group({"y"}), &program.group({"y"}));
    EXPECT_NE(&program.group({"y"}), &program.group({"x"}));
    EXPECT_EQ(made, (std::multiset<std::string>{"x", "y"}));
  });
}

TEST(Program, OrdersMembersByTheAxesAsGiven) {
  on_mesh({{"x", 2}, {"y", 2}}, [](Program& program) {
    const int64_t x = program.rank() / 2;
    const int64_t y = program.rank() % 2;
    EXPECT_EQ(program.group({"y"}).members(), (std::vector<int64_t>{2 * x, 2 * x + 1}));
    EXPECT_EQ(program.group({"x"}).members(), (std::vector<int64_t>{y, y + 2}));
    EXPECT_EQ(program.group({"x", "y"}).members(), (std::vector<int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(program.group({"y", "x"}).members(), (std::vector<int64_t>{0, 2, 1, 3}));
    EXPECT_EQ(program.group({"y", "x"}).rank(), y * 2 + x);
  });
}

TEST(Program, PlansOnceForAKey) {
  on_mesh({{"x", 1}}, [](Program& program) {
    int64_t calls = 0;
    const auto make = [&]() -> Result<OpPlan> {
      OpPlan plan;
      plan.reason = std::to_string(++calls);
      return plan;
    };
    const Planned& first = program.plan(PlanKey("a"), make);
    EXPECT_EQ(&program.plan(PlanKey("a"), make), &first);
    EXPECT_EQ(first.reason, "1");
    EXPECT_EQ(program.plan(PlanKey("b"), make).reason, "2");
    EXPECT_EQ(program.plans_made(), 2);
  });
}

TEST(Program, ThrowsARefusedPlanAndAsksAgain) {
  on_mesh({{"x", 1}}, [](Program& program) {
    const auto refuse = []() -> Result<OpPlan> { return fail(ErrorCode::kType, "no rule"); };
    try {
      program.plan(PlanKey("a"), refuse);
      FAIL() << "a refused plan was taken";
    } catch (const Exception& refused) {
      EXPECT_EQ(refused.error().code, ErrorCode::kType);
      EXPECT_EQ(refused.error().text, "no rule");
    }
    EXPECT_EQ(program.plans_made(), 0);
    EXPECT_NO_THROW(program.plan(PlanKey("a"), [] { return Result<OpPlan>(OpPlan{}); }));
  });
}

/// What rank 0's barrier over two ranks ends with, when rank 1 never comes.
ErrorCode end_of_a_lonely_barrier(bool group_first) {
  using std::chrono::milliseconds;
  std::promise<ErrorCode> promise;
  std::shared_future<ErrorCode> code = promise.get_future().share();
  on_mesh({{"x", 2}}, [&](Program& program) {
    if (group_first) {
      program.group({"x"});
    }
    program.set_timeout(milliseconds(50));
    if (program.rank() == 0) {
      const Result<void> ended = program.group({"x"}).barrier().wait();
      promise.set_value(ended ? ErrorCode::kUsage : ended.error().code);
    }
    // Whoever left would be missed, and not waited for.
    ASSERT_EQ(code.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  });
  return code.get();
}

TEST(Program, HoldsGroupsMadeBeforeAndAfterToItsTimeout) {
  EXPECT_EQ(end_of_a_lonely_barrier(true), ErrorCode::kTimeout);
  EXPECT_EQ(end_of_a_lonely_barrier(false), ErrorCode::kTimeout);
}

}  // namespace
}  // namespace brigade::tensor
