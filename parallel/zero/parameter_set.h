// SPDX-License-Identifier: Apache-2.0
/// ParameterSet: the parameters of one rank's part of a model - their storage, their gradients, and
/// the unit casts that reduce gradients and gather weights.
///
///   auto parameters = value_or_throw(ParameterSet::create(program, facts, options));
///   parameters->initialize(seed);
///
///   // microbatch j of m: forward with parameters->weight("..."), backward, then
///   parameters->accumulate(j, m);
///   // after the last one
///   value_or_throw(parameters->reduce());  // one collective per unit and set of axes
///   // update shard.weight from shard.gradient for each of parameters->shards(), then
///   value_or_throw(parameters->gather());  // new weights to all data ranks
///
/// Weights are autograd leaves of type Reduced over the data axes, so backward holds no data
/// collective. Reducing (Unreduced -> Sharded, then an all-reduce of the shards over the replicas,
/// and over the axes of use by parts) and gathering run outside autograd, one collective per (unit,
/// axes) over the list of the unit's spans: no flat buffer, no padding, no copies. Each is ledgered
/// as a cast.
///
/// Every reduction goes through reduce-scatter's tree, at stage 0 followed by an all-gather of the
/// reduced rows, so all stages hold the same bits.
///
/// A tied use (facts.tied_to names a parameter) has a gradient of its own, reduced on its own. If
/// the owner is in this set, the use shares the owner's storage and add_tied() joins the gradients;
/// else the executor moves them between stages.
///
/// Collective:    reduce(), gather(); all ranks of the data axes, same order. All else is local.
/// Cost:          sent per rank and unit, G bytes of fp32 gradients and W of weights in the unit's
///                used boxes, N ranks on dp_shard and R on dp_replicate. reduce(): reduce-scatter
///                G(N-1)/N, then all-reduce of the own rows, 2(G/N)(R-1)/R (small ones:
///                communicator.h; R includes the axes of use by parts), at stage 0 then all-gather
///                G(N-1)/N. gather(): W(N-1)/N at stage 1, nothing at 0.
/// Thread safety: belongs to the program's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/exact_sum.h"
#include "parallel/tensor/sharded_tensor.h"
#include "parallel/zero/gradient_sum.h"
#include "parallel/zero/placement.h"

namespace brigade::zero {

struct Options {
  int stage = 0;  ///< 0 or 1
  AxisRules rules;
  AxisRules parts = {};  ///< of use by parts (placement.h)
  DataAxes data;
  GradientSum::Order accumulation = GradientSum::Order::kRunning;
  DType dtype = DType::kFloat32;
};

/// What this rank reduces, measures and updates of one parameter: rows of its used box. Views into
/// the parameter's own storage; valid as long as the set, the gradient from reduce() to the next
/// accumulate().
struct Shard {
  const sharding::ParameterFacts* facts = nullptr;
  at::Tensor weight;    ///< [rows, ...], contiguous
  at::Tensor gradient;  ///< the same shape, fp32; complete after reduce() and the tied exchange
};

class ParameterSet {
 public:
  /// Allocates weights (not initialised).
  /// Errors: kUsage for a duplicate name or an axis used twice, naming the parameter.
  static Result<std::unique_ptr<ParameterSet>> create(tensor::Program& program,
                                                      std::vector<sharding::ParameterFacts> facts,
                                                      Options options);
  ~ParameterSet();

  const std::vector<sharding::ParameterFacts>& facts() const;
  /// The leaf, typed as used. CHECKs the name.
  const tensor::ShardedTensor& weight(std::string_view name) const;
  const Placement& placement(std::string_view name) const;

  /// Every element from (seed, its global index, its name): equal on every mesh. Tied uses copy
  /// their owner's function. Local.
  void initialize(uint64_t seed);
  /// Fills each weight's used box from `read(facts, box, out)`, `out` a contiguous local tensor; a
  /// use tied to an owner in this set is not asked for. For checkpoints. Local.
  /// Errors: those of `read`; the first ends the call, with the weights before it filled.
  Result<void> load(
      const std::function<Result<void>(
          const sharding::ParameterFacts& facts, const sharding::Box& box, at::Tensor& out)>& read);

  /// Takes the leaves' gradients of microbatch `microbatch` of `microbatches`, whose backward just
  /// ended. A parameter without one counts as zero.
  void accumulate(int64_t microbatch, int64_t microbatches);

  /// Sums the accumulated gradients over the data axes and those of use by parts. Posts all units,
  /// then waits. Collective.
  /// Errors: the communicator's.
  Result<void> reduce();

  /// Adds the reduced gradients of tied uses onto their owners in this set; called after reduce().
  void add_tied();
  /// The reduced gradient and the weight of a tied use or owner, for an exchange between stages:
  /// the gradient's rows are this rank's shard's; the weight is the whole used box.
  at::Tensor reduced_gradient(std::string_view name);
  at::Tensor weight_data(std::string_view name);

  /// Stage 1: gathers the rows that data ranks updated. Stage 0: nothing moves (all ranks updated
  /// all rows). Collective.
  /// Errors: the communicator's.
  Result<void> gather();

  /// What to update on this rank: at stage 0 all rows of every parameter, at stage 1 the shard.
  /// Without tied uses.
  std::vector<Shard> shards();

  /// Adds the squares of the reduced gradient, each element of the model once over all ranks: this
  /// rank's share of rows (also at stage 0, where it is the share it would own), replicas and tied
  /// uses left out. One fp64 partial per row. Returns the index into facts() of the first parameter
  /// with a value that is not finite, or -1.
  int64_t add_squares(ExactSum& sum);

  /// Drops this step's gradients (after an update, or when a step is skipped).
  void clear_gradients();

  /// Bytes held on this rank now.
  int64_t weight_bytes() const;
  int64_t gradient_bytes() const;

 private:
  struct Impl;
  explicit ParameterSet(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace brigade::zero
