// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/segment_plan.h"

#include <array>
#include <string>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/one_hot_plan.h"
#include "parallel/sharding/operand_specs.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {
namespace {

constexpr std::string_view kFeatures = "abcdefghijklm";  // n: rows, s: segments

Result<void> check_operands(const OperandSpecs& specs, int64_t segments) {
  if (Result<void> legal = specs.check(false); !legal) {
    return legal;
  }
  const Shape& ids = specs.operand(0).global;
  const Shape& values = specs.operand(1).global;
  if (ids.size() != 1 || values.empty() || values.size() - 1 > kFeatures.size() ||
      values[0] != ids[0] || segments < 0) {
    return specs.error(concat("expected ids (n), values (n, at most ",
                              kFeatures.size(),
                              " dims of features) and segments, found ",
                              specs.name(0),
                              ", ",
                              specs.name(1),
                              " and ",
                              segments));
  }
  return {};
}

/// Cuts the operand that does not split its rows as the other does.
Result<void> align(OperandSpecs& specs) {
  const AxisNames ids = specs.spec(0).dim(0);
  const AxisNames values = specs.spec(1).dim(0);
  if (ids == values) {
    return {};
  }
  if (!ids.empty() && !values.empty()) {
    return specs.error(concat(specs.name(0),
                              " and ",
                              specs.name(1),
                              " split their rows over different axes; reshard one of them"),
                       rule::kUnequalOperands);
  }
  return ids.empty() ? specs.slice(0, 0, values) : specs.slice(1, 0, ids);
}

}  // namespace

Result<OpPlan> plan_segment_sum(const mesh::Mesh& mesh,
                                const TensorType& values,
                                const TensorType& ids,
                                int64_t segments,
                                const std::optional<PartitionSpec>& out) {
  const std::array<TensorType, 2> operands = {ids, values};
  OperandSpecs specs(mesh, "segment_sum", operands);
  if (Result<void> legal = check_operands(specs, segments); !legal) {
    return fail(legal.error());
  }
  if (Result<void> aligned = align(specs); !aligned) {
    return fail(aligned.error());
  }
  const std::string features(kFeatures.substr(0, values.global.size() - 1));
  OneHotProduct product;
  product.op = "segment_sum";
  product.indices_letters = "ns";
  product.tensor_letters = concat('n', features);
  product.result_letters = concat('s', features);
  product.indices = ids;
  product.classes = segments;
  product.tensor = values;
  product.indices_spec = specs.spec(0);
  product.tensor_spec = specs.spec(1);
  return plan_one_hot(mesh, product, out);
}

}  // namespace brigade::sharding
