// SPDX-License-Identifier: Apache-2.0
/// Unit casts: one collective moves the rows of all of a unit's parameters, each straight from and
/// to its own tensor. Internal to the module.
///
///   gather   Sharded -> Reduced over data.shard
///   reduce   Unreduced -> Sharded over data.shard, then the shards' all-reduce over data.replicate
///            and the axes of use by parts; at stage 0 the rows are gathered again
///
/// Every function posts and returns; what was posted is waited for where its result is needed.
/// A rank's gradients over all data ranks are summed along one tree: replicas are the upper part of
/// it, shard members the lower. Groups of one move nothing and are not ledgered.
#pragma once

#include <string_view>

#include "parallel/base/dtype.h"
#include "parallel/base/result.h"
#include "parallel/tensor/program.h"
#include "parallel/zero/options.h"
#include "parallel/zero/unit.h"

namespace brigade::zero {

class UnitCasts {
 public:
  /// Borrows both.
  UnitCasts(tensor::Program& program, const Options& options)
      : program_(program), options_(options) {}

  /// More than one rank shares the states.
  bool shards() const { return members(options_.data.shard) > 1; }

  /// Own rows of `sharded` parameters, to their leaves on all members.
  collective::Work gather_sharded(const Unit& unit);
  /// Own rows of `refreshed` parameters, to all members.
  collective::Work gather_refreshed(const Unit& unit);

  /// Terms of all parameters to the members' `result`.
  collective::Work scatter_gradients(const Unit& unit);
  /// `result` of these parameters, over the sum's axes.
  collective::Work sum_gradients(const Unit& unit, const Sum& sum);
  /// `result` of all parameters to the rows of `terms` on all members.
  collective::Work gather_gradients(const Unit& unit);

 private:
  int64_t members(const mesh::AxisNames& axes) const { return program_.mesh().axes_size(axes); }
  void write(sharding::CastKind kind,
             const mesh::AxisNames& axes,
             int64_t bytes,
             const Unit& unit,
             std::string_view what);

  tensor::Program& program_;
  const Options& options_;
};

}  // namespace brigade::zero
