// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/loop.h"

#include "parallel/base/text.h"
#include "parallel/sharding/loop_plan.h"
#include "parallel/tensor/ops/along.h"
#include "parallel/tensor/ops/shape.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {
namespace {

void demand_equal(std::string_view loop,
                  int64_t turn,
                  const ShardedTensor& before,
                  const ShardedTensor& after) {
  value_or_throw(
      sharding::check_carry(loop, before.program().mesh(), turn, before.type(), after.type()));
}

}  // namespace

ShardedTensor layer_loop(
    ShardedTensor carry,
    int64_t count,
    const std::function<ShardedTensor(const ShardedTensor& carry, int64_t index)>& turn) {
  for (int64_t index = 0; index < count; ++index) {
    ShardedTensor next = turn(carry, index);
    demand_equal("layer_loop", index, carry, next);
    carry = std::move(next);
  }
  return carry;
}

std::vector<ShardedTensor> layer_loop(
    std::vector<ShardedTensor> carries,
    int64_t count,
    const std::function<std::vector<ShardedTensor>(const std::vector<ShardedTensor>& carries,
                                                   int64_t index)>& turn) {
  for (int64_t index = 0; index < count; ++index) {
    std::vector<ShardedTensor> next = turn(carries, index);
    if (next.size() != carries.size()) {
      throw Exception({ErrorCode::kType,
                       concat("layer_loop: turn ",
                              index,
                              " was given ",
                              carries.size(),
                              " carries and hands on ",
                              next.size()),
                       -1});
    }
    for (size_t i = 0; i < next.size(); ++i) {
      demand_equal("layer_loop", index, carries[i], next[i]);
    }
    carries = std::move(next);
  }
  return carries;
}

std::pair<ShardedTensor, ShardedTensor> scan(ShardedTensor carry,
                                             const ShardedTensor& xs,
                                             const ScanTurn& turn) {
  value_or_throw(sharding::check_scanned(xs.program().mesh(), xs.type()));
  std::vector<ShardedTensor> results;
  for (const ShardedTensor& element : unstack(xs, 0)) {
    auto [next, result] = turn(carry, element);
    demand_equal("scan", static_cast<int64_t>(results.size()), carry, next);
    carry = std::move(next);
    results.push_back(std::move(result));
  }
  return {std::move(carry), stack(results, 0)};
}

}  // namespace brigade::tensor
