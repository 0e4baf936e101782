// SPDX-License-Identifier: Apache-2.0
/// Unit casts: one collective moves the rows of all of a unit's parameters, each straight from and
/// to its own tensor. Internal to the module.
///
///   reduce   Unreduced -> Sharded over data.shard, then the shards' all-reduce over
///            data.replicate and the axes of use by parts; at stage 0 the rows are gathered again
///   gather   Sharded -> Reduced over data.shard
///
/// A rank's gradients over all data ranks are summed along one tree: replicas are the upper part of
/// it, shard members the lower. Groups of one move nothing and are not ledgered.
#pragma once

#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/tensor/program.h"
#include "parallel/zero/parameter.h"
#include "parallel/zero/placement.h"

namespace brigade::zero {

/// Parameters of a unit whose shards are all-reduced over the same axes.
struct Sum {
  mesh::AxisNames axes;
  std::vector<Parameter*> parameters;
};

struct Unit {
  std::string name;
  std::vector<Parameter*> parameters;
  std::vector<Sum> sums;  ///< those of them that are summed over axes beside data.shard
};

/// Sums Parameter::gradient over data.shard and its sum_axes, in place; `whole` gives all rows to
/// all members.
/// All units are posted before the first is waited for. Collective.
Result<void> reduce_gradients(tensor::Program& program,
                              const DataAxes& data,
                              const std::vector<Unit>& units,
                              bool whole);

/// Gives every shard member the other members' rows of Parameter::data. Collective.
Result<void> gather_weights(tensor::Program& program,
                            const DataAxes& data,
                            const std::vector<Unit>& units);

}  // namespace brigade::zero
