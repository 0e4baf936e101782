// SPDX-License-Identifier: Apache-2.0
/// The memory that one rank will need, by category, from types alone: what a run prints before its
/// first step, and holds against what its meter counted after the last (memory_report.h).
///
///   const auto units = value_or_throw(unit_elements(mesh, rank, facts, plan.zero));
///   tensor::CategoryBytes bytes = plan_states(units, plan);
///   bytes[Category::kActivations] = plan_activations(activations);
///
/// States are exact: the bytes of boxes. The other numbers are the most that the rules of a step
/// allow, derived where they stand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/decoder/activation_bytes.h"
#include "parallel/base/dtype.h"
#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/parameter_facts.h"
#include "parallel/tensor/memory_meter.h"
#include "parallel/zero/options.h"

namespace brigade::loop {

/// How a run stores, gathers and reduces.
struct StatePlan {
  zero::Options zero;
  int64_t states_per_element = 0;  ///< of the optimizer, fp32
  int64_t microbatches = 1;
  bool reduces_each_microbatch = false;
  int64_t whole_units = 2;  ///< stage 3: how many are whole at once; 0: all
};

/// Elements of a unit of one stage on one rank.
struct UnitElements {
  std::string name;
  int64_t stored = 0;    ///< weights as they lie, in the dtype of compute
  int64_t gathered = 0;  ///< of those that come and go: their used boxes
  int64_t used = 0;      ///< of all used boxes: a gradient for each use
  int64_t updated = 0;   ///< that this rank updates: without tied uses
  int64_t reduced = 0;   ///< of its rows of gradients, for each use
};

/// Of each unit, in forward order; `facts` are those of one stage, `rank` is of its `mesh`.
/// Errors: kUsage when a parameter cannot be placed.
Result<std::vector<UnitElements>> unit_elements(const mesh::Mesh& mesh,
                                                int64_t rank,
                                                const std::vector<sharding::ParameterFacts>& facts,
                                                const zero::Options& options);

int64_t sum_of(const std::vector<UnitElements>& units, int64_t UnitElements::*part);
/// The most of `count` neighbours; 0: of all.
int64_t largest_neighbours(const std::vector<UnitElements>& units,
                           int64_t UnitElements::*part,
                           int64_t count);

/// Partial sums of a parameter's gradient that are kept between two of `microbatches` backwards.
int64_t partial_sums(int64_t microbatches, zero::GradientSum::Order order);

/// Parameters, gradients, optimizer states and gathered units.
///
///   parameters  as stored, and fp32 masters of the updated rows beside those of another dtype
///   gradients   fp32; stages 0, 1: all partial sums. 2, 3: own rows, and two
///               neighbouring units, one that is being reduced while the other's are made; or, when
///               several microbatches are reduced once, partial sums of full size, which rows
///               replace unit by unit. Where gradients are added to others, those of a unit that
///               come in.
///   gathered    the largest neighbours among units, as many as are whole at once
tensor::CategoryBytes plan_states(const std::vector<UnitElements>& units, const StatePlan& plan);

/// Of one unit's activations, a microbatch's.
struct UnitPlan {
  int64_t kept = 0;     ///< from forward to backward
  int64_t saved = 0;    ///< at the begin of its backward: more than `kept` if it is run again
  int64_t working = 0;  ///< beside it, in that backward
};

struct ActivationPlan {
  std::vector<UnitPlan> units;  ///< of the stage, in forward order
  int64_t in_flight = 1;        ///< microbatches between forward and backward
  int64_t held = 0;             ///< the whole step: ids, tables, message buffers
};

/// Most when, with all microbatches in flight, some unit of the last of them runs its backward.
int64_t plan_activations(const ActivationPlan& plan);

}  // namespace brigade::loop
