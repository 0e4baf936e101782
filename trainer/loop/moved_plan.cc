// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/moved_plan.h"

#include <map>
#include <string>
#include <vector>

#include "models/decoder/units.h"
#include "parallel/tensor/ledger.h"
#include "trainer/loop/model_shape.h"

namespace brigade::loop {
namespace {

using schedule::ActionKind;
using sharding::CastKind;

/// How often a stage's list begins to gather and to reduce a unit.
struct Count {
  int64_t gathers = 0;
  int64_t reductions = 0;
};
using Counts = std::map<std::string, Count>;  // by unit

Counts counts_of(const std::vector<schedule::Action>& actions,
                 const std::vector<std::string>& units) {
  Counts counts;
  for (const schedule::Action& action : actions) {
    if (action.kind == ActionKind::kUnshard) {
      ++counts[units[static_cast<size_t>(action.unit)]].gathers;
    } else if (action.kind == ActionKind::kReduceUnit) {
      ++counts[units[static_cast<size_t>(action.unit)]].reductions;
    }
  }
  return counts;
}

class Moves {
 public:
  Moves(const zero::Options& options, const Counts& counts, const mesh::Mesh& mesh, int64_t rank)
      : options_(options), counts_(counts), mesh_(mesh), rank_(rank) {}

  void add(const sharding::ParameterFacts& row, const zero::Placement& placement) {
    const Count& count = counts_.at(row.unit);
    const int64_t used = placement.used.box(row.shape, rank_).element_count();
    const int64_t weights = used * size_of(options_.dtype);
    const int64_t terms = used * size_of(options_.wire);
    const bool comes_and_goes =
        options_.stage == 3 && sharding::element_count(row.shape) >= options_.replicate_below;
    if (comes_and_goes) {
      moves_.weights += count.gathers * over_shards(CastKind::kGatherReduced, weights);
    } else if (options_.stage >= 1 && row.tied_to.empty()) {
      moves_.weights += over_shards(CastKind::kGatherReduced, weights);
    }
    moves_.gradients += count.reductions * over_shards(CastKind::kReduceScatter, terms);
    moves_.gradients += options_.stage == 0 ? over_shards(CastKind::kGather, terms) : 0;
    const int64_t member = mesh_.flattened_index(rank_, options_.data.shard);
    const sharding::Interval rows = placement.shard_rows(row.shape, rank_, member);
    const sharding::Interval all{0, placement.shard_rows(row.shape, rank_, members() - 1).end};
    const int64_t own = all.size() == 0 ? 0 : terms / all.size() * rows.size();
    moves_.gradients +=
        tensor::cast_bytes(CastKind::kAllReduce, mesh_.axes_size(placement.sum_axes), own);
  }

  const MovedPlan& moves() const { return moves_; }

 private:
  int64_t members() const { return mesh_.axes_size(options_.data.shard); }
  int64_t over_shards(CastKind kind, int64_t bytes) const {
    return tensor::cast_bytes(kind, members(), bytes);
  }

  const zero::Options& options_;
  const Counts& counts_;
  const mesh::Mesh& mesh_;
  int64_t rank_;
  MovedPlan moves_;
};

Result<MovedPlan> moves_of(const zero::Options& options,
                           const Counts& counts,
                           const mesh::Mesh& mesh,
                           int64_t rank,
                           const std::vector<sharding::ParameterFacts>& rows) {
  Moves moves(options, counts, mesh, rank);
  for (const sharding::ParameterFacts& row : rows) {
    const Result<zero::Placement> placement =
        zero::place(mesh, row, options.rules, options.data, options.parts);
    if (!placement) {
      return fail(placement.error());
    }
    moves.add(row, *placement);
  }
  return moves.moves();
}

}  // namespace

Result<std::vector<MovedPlan>> planned_moves(const config::RunConfig& config,
                                             const config::RunFacts& facts) {
  const Result<schedule::Schedule> training = training_schedule(config, facts);
  if (!training) {
    return fail(training.error());
  }
  const mesh::Mesh mesh = stage_mesh(value_or_throw(mesh::Mesh::create(facts.axes)));
  const zero::Options options = zero_options(config, facts);
  std::vector<MovedPlan> ranks;
  for (int64_t stage = 0; stage < facts.pp; ++stage) {
    const std::vector<sharding::ParameterFacts> rows = parameters_of(config, stage, facts.pp);
    const Counts counts =
        counts_of(training->per_rank[static_cast<size_t>(stage)],
                  decoder::unit_names(model_of(config)->layers(), stage, facts.pp));
    for (int64_t rank = 0; rank < mesh.size(); ++rank) {
      const Result<MovedPlan> moves = moves_of(options, counts, mesh, rank, rows);
      if (!moves) {
        return fail(moves.error());
      }
      ranks.push_back(*moves);
    }
  }
  return ranks;
}

}  // namespace brigade::loop
