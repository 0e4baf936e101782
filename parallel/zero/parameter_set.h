// SPDX-License-Identifier: Apache-2.0
/// ParameterSet: the parameters of one rank's part of a model - their storage, their gradients, and
/// the unit casts that gather weights and reduce gradients.
///
///   auto parameters = value_or_throw(ParameterSet::create(program, facts, options));
///   parameters->initialize(seed);
///   const size_t unit = parameters->unit("block.3");
///
///   parameters->unshard(unit);                     // begins; early, while another unit computes
///   value_or_throw(parameters->wait_whole(unit));  // forward of microbatch j of m, weight("...")
///   parameters->reshard(unit);
///   // unshard and wait again, backward, then
///   parameters->accumulate(unit, j, m);
///   value_or_throw(parameters->reduce(unit));  // begins; after the last microbatch, or after each
///   // at the end of the step
///   value_or_throw(parameters->reduce());  // the rest, and waits for all
///   // update shard.weight from shard.gradient for each of parameters->shards(), then
///   value_or_throw(parameters->gather());  // new weights to all data ranks
///   parameters->clear_gradients();
///
/// Weights are autograd leaves of type Reduced over the data axes, so backward holds no data
/// collective. Gathering (Sharded -> Reduced) and reducing (Unreduced -> Sharded, then an
/// all-reduce of the shards over the replicas and over the axes of use by parts) run outside
/// autograd, one collective per (unit, axes) over the list of the unit's spans: no flat buffer, no
/// padding, no copies. Each is ledgered as a cast.
///
/// A leaf keeps its tensor while the memory under it comes and goes, so what autograd saved of a
/// weight is there again when the unit is.
///
/// Every reduction goes through reduce-scatter's tree, at stage 0 followed by an all-gather of the
/// reduced rows, so all stages hold the same bits.
///
/// A tied use (facts.tied_to names a parameter) has a gradient of its own, reduced on its own. If
/// the owner is in this set, the use shares the owner's storage and add_tied() joins the gradients;
/// else the executor moves them between stages. At stage 3 each use is gathered with its own unit.
///
/// Collective:    unshard(), reduce(), gather(), collect(); all ranks of the data axes, same order.
///                All else is local; wait_whole() waits for what unshard() posted.
/// Memory:        per element of a used box, fp32, N data-shard ranks: weights 4 bytes at stages 0
///                to 2, 4/N at 3 and 4 more while whole; gradients 4 from the first backward at
///                stages 0 and 1; at 2 and 3 4/N after the reduction, and 4 per partial sum before.
///                With weights in bf16: 2 instead of 4, and masters of 4, at stage 0, or 4/N.
/// Cost:          sent per rank and unit, G bytes of gradients and W of weights in the unit's used
///                boxes, N ranks on dp_shard and R on dp_replicate. A reduction: reduce-scatter
///                G(N-1)/N; with the last of a step all-reduce of the own rows, 2(G/N)(R-1)/R
///                (small ones: communicator.h; R includes the axes of use by parts), at stage 0
///                then all-gather G(N-1)/N. unshard(): W(N-1)/N at stage 3. gather(): W(N-1)/N at
///                stages 1 and 2.
/// Thread safety: belongs to the program's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/exact_sum.h"
#include "parallel/tensor/sharded_tensor.h"
#include "parallel/zero/options.h"
#include "parallel/zero/placement.h"

namespace brigade::zero {

/// What this rank reduces, measures and updates of one parameter: rows of its used box. Views into
/// the parameter's own storage; valid as long as the set, the gradient from reduce() to
/// clear_gradients().
struct Shard {
  const sharding::ParameterFacts* facts = nullptr;
  sharding::Box box;    ///< of the global tensor; a scalar, which has no dims to split, lies with
                        ///< one rank, and on the others `weight` has no elements
  at::Tensor weight;    ///< [rows, ...] fp32, contiguous
  at::Tensor gradient;  ///< the same shape, fp32; complete after reduce() and the tied exchange
};

class ParameterSet {
 public:
  /// Allocates weights (not initialised).
  /// Errors: kUsage for a duplicate name or an axis used twice, naming the parameter; for a stage
  /// that is none.
  static Result<std::unique_ptr<ParameterSet>> create(tensor::Program& program,
                                                      std::vector<sharding::ParameterFacts> facts,
                                                      Options options);
  ~ParameterSet();

  const std::vector<sharding::ParameterFacts>& facts() const;
  const Options& options() const;
  const Placement& placement(std::string_view name) const;
  /// Units by index, in the order of their first parameters. CHECKs the name.
  size_t unit(std::string_view name) const;
  size_t units() const;

  /// The leaf, typed as used. CHECKs the name. Throws kUsage if its unit is not whole now: then a
  /// forward uses a parameter of another unit than its own.
  const tensor::ShardedTensor& weight(std::string_view name) const;

  /// Every element from (seed, its global index, its name): equal on every mesh. Tied uses copy
  /// their owner's function. Local.
  void initialize(uint64_t seed);
  /// Fills what this rank updates of each weight from `read(facts, box, out)`, `out` a contiguous
  /// local fp32 tensor of the box's shape; gather() then brings it to where else it is stored. Of a
  /// use tied to another stage's owner it asks for all that is stored here; a use tied to an owner
  /// in this set is not asked for. In the order of names. Local.
  /// Errors: those of `read`; the first ends the call, with the weights before it filled.
  using ReadBox = std::function<Result<void>(
      const sharding::ParameterFacts& facts, const sharding::Box& box, at::Tensor& out)>;
  Result<void> load(const ReadBox& read);

  /// Begins to make a unit's weights whole: allocates, posts one all-gather. Nothing where they are
  /// (stages 0 to 2, groups of one). Collective.
  void unshard(size_t unit);
  /// Waits until they are; begins first if need be.
  Result<void> wait_whole(size_t unit);
  /// Frees what unshard() allocated. Local.
  void reshard(size_t unit);

  /// Takes the leaves' gradients of microbatch `microbatch` of `microbatches`, whose backward
  /// through the unit just ended. A parameter without one counts as zero.
  void accumulate(size_t unit, int64_t microbatch, int64_t microbatches);
  void accumulate(int64_t microbatch, int64_t microbatches);  ///< of all units

  /// Begins to sum a unit's accumulated gradients over the data axes and those of use by parts, and
  /// moves on those that began before (unit_reduction.h). Collective.
  /// Errors: kUsage naming a parameter without a gradient, if Options::missing says so; the
  /// communicator's.
  Result<void> reduce(size_t unit);
  /// Of all units whose gradients are not reduced; then waits for all. Collective.
  Result<void> reduce();

  /// Adds the reduced gradients of tied uses onto their owners in this set; called after reduce().
  void add_tied();
  /// The reduced gradient of a tied use or owner, for an exchange between stages: this rank's
  /// shard's rows.
  at::Tensor reduced_gradient(std::string_view name);
  /// What this rank stores of such a weight, in the dtype of compute: the used box, at stage 3 the
  /// shard's rows.
  at::Tensor stored_weight(std::string_view name);

  /// Brings updated masters to the weights of compute; at stages 1 and 2 gathers the rows that data
  /// ranks updated. Collective.
  /// Errors: the communicator's.
  Result<void> gather();

  /// Which box of such a parameter each rank of the program updates, by rank: what shards() has
  /// there; none where that has no element. CHECKs the name.
  std::vector<std::optional<sharding::Box>> updated_boxes(std::string_view name) const;

  /// What to update on this rank: at stage 0 all rows of every parameter, else the shard. Without
  /// tied uses.
  std::vector<Shard> shards();

  /// Adds the squares of the reduced gradient, each element of the model once over all ranks: this
  /// rank's share of rows (also at stage 0, where it is the share it would own), replicas and tied
  /// uses left out. One fp64 partial per row. Returns the index into facts() of the first parameter
  /// with a value that is not finite, or -1.
  int64_t add_squares(ExactSum& sum);

  /// Drops this step's gradients (after an update, or when a step is skipped).
  void clear_gradients();

  /// The whole value on every rank of the program, fp32 where this rank has a master. Collective
  /// over the program's mesh; for tests and reports.
  at::Tensor collect(std::string_view name);

  /// Bytes held on this rank now.
  int64_t weight_bytes() const;    ///< in the dtype of compute, without what is gathered
  int64_t master_bytes() const;    ///< beside them
  int64_t gathered_bytes() const;  ///< of units that are whole
  int64_t gradient_bytes() const;

 private:
  struct Impl;
  explicit ParameterSet(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace brigade::zero
