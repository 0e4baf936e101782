// SPDX-License-Identifier: Apache-2.0
// Each way to break a type has a name of its own and a text that says where.
#include "parallel/sharding/type_rule.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "parallel/sharding/along_plan.h"
#include "parallel/sharding/elementwise_plan.h"
#include "parallel/sharding/op_plan.h"
#include "parallel/sharding/shape_plan.h"

namespace brigade::sharding {
namespace {

mesh::Mesh mesh() {
  return value_or_throw(mesh::Mesh::create({{"x", 2}, {"y", 2}}));
}

TensorType type(std::string_view text) {
  return value_or_throw(TensorType::parse(text));
}

template <class T>
void expect_rule(const Result<T>& result, std::string_view rule, const std::string& text) {
  ASSERT_FALSE(result) << rule;
  EXPECT_EQ(result.error().code, ErrorCode::kType);
  EXPECT_EQ(result.error().rule, rule) << result.error().text;
  EXPECT_NE(result.error().text.find(text), std::string::npos) << result.error().text;
}

Result<OpPlan> product(std::string_view a, std::string_view b) {
  return plan_einsum(mesh(), "ab,bc->ac", type(a), type(b), {});
}

Result<void> spec(std::string_view text, size_t rank = 2) {
  return value_or_throw(PartitionSpec::parse(text)).check(mesh(), rank);
}

TEST(TypeRule, NamesWhatIsWrongWithASpec) {
  expect_rule(spec("(\"z\", None)"), rule::kUnknownAxis, "is not in the mesh x=2 x y=2");
  expect_rule(spec("(\"x\", \"x\")"), rule::kAxisTwice, "for dim 0 and for dim 1");
  expect_rule(spec("((\"x\", \"x\"), None)"), rule::kAxisTwice, "for dim 0 and for dim 0");
  expect_rule(spec("(\"x\", None){U:x}"), rule::kAxisInTwoSets, "the unreduced set");
  expect_rule(spec("(None, None){U:x, R:x}"), rule::kAxisInTwoSets, "the reduced set");
  expect_rule(spec("(None, \"x\")", 1), rule::kSpecTooLong, "but the tensor has 1 dim");
}

TEST(TypeRule, NamesWhatIsWrongWithAnOp) {
  expect_rule(product("f32[8@x,4@y]", "f32[4@y,6]"), rule::kContraction, "say with out=");
  expect_rule(product("f32[8,4@x]", "f32[4@y,6]"), rule::kUnequalOperands, "over y in operand 1");
  expect_rule(product("f32[8,4]{U:x}", "f32[4,6]"), rule::kUnreduced, "is unreduced over x");
  expect_rule(
      product("f32[8@z,4]", "f32[4,6]"), rule::kUnknownAxis, "operand 0: f32[8@z,4]: axis \"z\"");
  const std::array<TensorType, 2> unequal = {type("f32[8@x,4]"), type("f32[8@y,4]")};
  expect_rule(plan_elementwise(mesh(), "add", unequal, Algebra::kSum),
              rule::kUnequalOperands,
              "over y by operand 1");
  expect_rule(plan_along(mesh(), "cumsum", unequal[0], 0, true, DType::kFloat32),
              rule::kShardedDim,
              "dim 0 of f32[8@x,4] is split over x (2 parts)");
  expect_rule(plan_concat(mesh(), unequal, 1), rule::kUnequalOperands, "concat along dim 1");
  expect_rule(plan_reshard(mesh(), type("f32[8]{R:x}"), PartitionSpec()),
              rule::kNoCast,
              "no cast leads from f32[8]{R:x} to f32[8]");
}

}  // namespace
}  // namespace brigade::sharding
