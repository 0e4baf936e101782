// SPDX-License-Identifier: Apache-2.0
/// Loops whose turns are alike: each hands on a carry of the type that it was given.
///
///   ShardedTensor y = layer_loop(x, layers, [&](const ShardedTensor& h, int64_t layer) {
///     return block(h, layer);
///   });
///
/// So a loop's collectives do not depend on how often it turned, and a resharding that a layer
/// forgot is found at its first turn. The carry may be an unfinished sum: gradients of microbatches
/// are added up so.
///
/// Collective: what `turn` is; every rank turns as often.
/// Errors:     kType naming the turn and both types; what `turn` throws. Thrown as Exception.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// turn(carry, i) for i from 0 to `count` - 1.
ShardedTensor layer_loop(
    ShardedTensor carry,
    int64_t count,
    const std::function<ShardedTensor(const ShardedTensor& carry, int64_t index)>& turn);

/// The same with several carries at once.
std::vector<ShardedTensor> layer_loop(
    std::vector<ShardedTensor> carries,
    int64_t count,
    const std::function<std::vector<ShardedTensor>(const std::vector<ShardedTensor>& carries,
                                                   int64_t index)>& turn);

/// A carry, and what a turn gives besides.
using ScanTurn = std::function<std::pair<ShardedTensor, ShardedTensor>(
    const ShardedTensor& carry, const ShardedTensor& element)>;

/// turn(carry, xs[i]) for each i of dim 0 of `xs` [n, ...], which must be whole, n being above 0.
/// Returns the last carry and the second results, of one type [...], stacked to [n, ...].
std::pair<ShardedTensor, ShardedTensor> scan(ShardedTensor carry,
                                             const ShardedTensor& xs,
                                             const ScanTurn& turn);

}  // namespace brigade::tensor
