// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/reshard_walk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/sharding/permute.h"
#include "parallel/sharding/reshard_step.h"

namespace brigade::sharding {
namespace {

/// The cast by which an axis in this state comes to split a dim.
CastKind joining(AxisState state) {
  switch (state) {
    case AxisState::kReplicated: return CastKind::kSlice;
    case AxisState::kReduced: return CastKind::kSliceReduced;
    case AxisState::kUnreduced: return CastKind::kReduceScatter;
    case AxisState::kSharded: break;
  }
  BRIGADE_CHECK(false, "the axis splits a dim already");
}

}  // namespace

ReshardWalk::ReshardWalk(const mesh::Mesh& mesh,
                         const TensorType& from,
                         const PartitionSpec& to,
                         ReshardOrder order)
    : mesh_(mesh), type_(from), to_(to), order_(order) {}

Casts ReshardWalk::take() && {
  while (step()) {
  }
  BRIGADE_CHECK(type_.spec == to_, type_.spec.to_string(), to_.to_string());
  merge_gathers();
  return std::move(steps_);
}

// Free casts come early where they shrink what later ones move, late where they do not.
bool ReshardWalk::step() {
  if (order_.plain) {
    return all_reduce() || mark_reduced() || gather_for_good() || gather_for_now() || place() ||
           slice() || keep_first();
  }
  if (slice() || reduce_scatter() || all_reduce() || mark_reduced() || permute(true) ||
      all_to_all() || permute(false) || gather_for_good()) {
    return true;
  }
  const bool leaves = order_.place_late ? gather_for_now() || place() : place() || gather_for_now();
  return leaves || keep_first();
}

size_t ReshardWalk::settled(size_t dim) const {
  const AxisNames& now = type_.spec.dim(dim);
  const AxisNames& then = to_.dim(dim);
  return static_cast<size_t>(std::mismatch(now.begin(), now.end(), then.begin(), then.end()).first -
                             now.begin());
}

bool ReshardWalk::leaves(size_t dim) const {
  return settled(dim) < type_.spec.dim(dim).size();
}

ReshardWalk::Run ReshardWalk::next_arrivals(size_t dim) const {
  Run run{dim, {}, AxisState::kSharded};
  if (leaves(dim)) {
    return run;
  }
  run.axes = alike(tail(to_.dim(dim), type_.spec.dim(dim).size()));
  run.state = run.axes.empty() ? run.state : type_.spec.state(run.axes.front());
  return run;
}

AxisNames ReshardWalk::alike(AxisNames axes) const {
  const auto end = std::find_if(axes.begin(), axes.end(), [&](const std::string& axis) {
    return type_.spec.state(axis) != type_.spec.state(axes.front());
  });
  axes.erase(end, axes.end());
  return axes;
}

ReshardWalk::Run ReshardWalk::next_leavers(size_t dim) const {
  Run run{dim, {}, AxisState::kSharded};
  if (!leaves(dim)) {
    return run;
  }
  const AxisNames leavers = tail(type_.spec.dim(dim), settled(dim));
  run.state = to_.state(leavers.back());
  size_t begin = leavers.size();
  while (begin > 0 && to_.state(leavers[begin - 1]) == run.state) {
    --begin;
  }
  run.axes = tail(leavers, begin);
  return run;
}

bool ReshardWalk::slice() {
  for (size_t dim = 0; dim < type_.global.size(); ++dim) {
    Run run = next_arrivals(dim);
    const bool reduced = run.state == AxisState::kReduced;
    if (!run.axes.empty() && (reduced || run.state == AxisState::kReplicated)) {
      record(reduced ? CastKind::kSliceReduced : CastKind::kSlice,
             std::move(run.axes),
             static_cast<int64_t>(dim));
      return true;
    }
  }
  return false;
}

bool ReshardWalk::reduce_scatter() {
  for (size_t dim = 0; dim < type_.global.size(); ++dim) {
    Run run = next_arrivals(dim);
    if (!run.axes.empty() && run.state == AxisState::kUnreduced) {
      record(CastKind::kReduceScatter, std::move(run.axes), static_cast<int64_t>(dim));
      return true;
    }
  }
  return false;
}

AxisNames ReshardWalk::axes_between(AxisState now, bool (*wanted)(AxisState)) const {
  AxisNames axes;
  for (const mesh::Axis& axis : mesh_.axes()) {
    if (type_.spec.state(axis.name) == now && wanted(to_.state(axis.name))) {
      axes.push_back(axis.name);
    }
  }
  return axes;
}

bool ReshardWalk::all_reduce() {
  // Unless told otherwise, a sum that is to be scattered waits until its dim is ready for it.
  const bool all = order_.reduce_early || order_.plain;
  AxisNames axes = axes_between(
      AxisState::kUnreduced,
      all ? [](AxisState to) { return to != AxisState::kUnreduced; }
          : [](AxisState to) { return to == AxisState::kReplicated || to == AxisState::kReduced; });
  if (axes.empty()) {
    return false;
  }
  record(CastKind::kAllReduce, std::move(axes));
  return true;
}

bool ReshardWalk::mark_reduced() {
  AxisNames axes =
      axes_between(AxisState::kReplicated, [](AxisState to) { return to == AxisState::kReduced; });
  if (axes.empty()) {
    return false;
  }
  record(CastKind::kMarkReduced, std::move(axes));
  return true;
}

bool ReshardWalk::keep_first() {
  AxisNames axes = axes_between(AxisState::kReplicated,
                                [](AxisState to) { return to == AxisState::kUnreduced; });
  if (axes.empty()) {
    return false;
  }
  record(CastKind::kKeepFirst, std::move(axes));
  return true;
}

bool ReshardWalk::divides(size_t dim, const AxisNames& axes) const {
  return type_.global[dim] % mesh_.axes_size(axes) == 0;
}

bool ReshardWalk::all_to_all() {
  for (size_t from_dim = 0; from_dim < type_.global.size(); ++from_dim) {
    for (size_t to_dim = 0; leaves(from_dim) && to_dim < type_.global.size(); ++to_dim) {
      if (from_dim != to_dim && exchange(from_dim, to_dim)) {
        return true;
      }
    }
  }
  return false;
}

bool ReshardWalk::exchange(size_t from_dim, size_t to_dim) {
  const AxisNames now = type_.spec.dim(from_dim);
  const AxisNames arrivals = next_arrivals(to_dim).axes;
  for (size_t begin = settled(from_dim); begin < now.size(); ++begin) {
    AxisNames moved = tail(now, begin);
    if (moved.size() > arrivals.size() ||
        !std::equal(moved.begin(), moved.end(), arrivals.begin()) || !divides(from_dim, now) ||
        !divides(to_dim, plus(type_.spec.dim(to_dim), moved))) {
      continue;
    }
    // Axes that follow on the target dim and split nothing yet: sliced here first, they shrink the
    // exchange.
    AxisNames along;
    for (const std::string& axis :
         tail(to_.dim(to_dim), type_.spec.dim(to_dim).size() + moved.size())) {
      if (type_.spec.state(axis) != AxisState::kReplicated) {
        break;
      }
      along.push_back(axis);
    }
    if (!along.empty() && divides(from_dim, plus(now, along)) &&
        divides(to_dim, plus(plus(type_.spec.dim(to_dim), moved), along))) {
      record(CastKind::kSlice, along, static_cast<int64_t>(from_dim));
      moved = plus(std::move(moved), along);
    }
    record(CastKind::kAllToAll,
           std::move(moved),
           static_cast<int64_t>(from_dim),
           static_cast<int64_t>(to_dim));
    return true;
  }
  return false;
}

// Axes that the arrangement needs on a dim already join it first, by whatever their state allows.
bool ReshardWalk::permute(bool whole_boxes) {
  if (!order_.permute) {
    return false;
  }
  const std::optional<Arrangement> found = find_arrangement(mesh_, type_, to_, whole_boxes);
  if (!found) {
    return false;
  }
  for (size_t dim = 0; dim < type_.global.size(); ++dim) {
    while (found->before[dim] != type_.spec.dim(dim)) {
      AxisNames axes = alike(tail(found->before[dim], type_.spec.dim(dim).size()));
      const CastKind kind = joining(type_.spec.state(axes.front()));
      record(kind, std::move(axes), static_cast<int64_t>(dim));
    }
  }
  CastStep step{CastKind::kPermute, {}, -1, -1, type_};
  step.to.spec = PartitionSpec(found->after).with_sets_of(type_.spec);
  step.axes = permuted_axes(mesh_, type_.spec, step.to.spec);
  type_ = step.to;
  steps_.push_back(std::move(step));
  return true;
}

bool ReshardWalk::gather_for_good() {
  for (size_t dim = 0; dim < type_.global.size(); ++dim) {
    Run run = next_leavers(dim);
    const bool reduced = run.state == AxisState::kReduced;
    if (!run.axes.empty() && (reduced || run.state == AxisState::kReplicated)) {
      record(reduced ? CastKind::kGatherReduced : CastKind::kGather,
             std::move(run.axes),
             static_cast<int64_t>(dim));
      return true;
    }
  }
  return false;
}

bool ReshardWalk::place() {
  for (size_t dim = 0; dim < type_.global.size(); ++dim) {
    Run run = next_leavers(dim);
    if (!run.axes.empty() && run.state == AxisState::kUnreduced) {
      record(CastKind::kPlace, std::move(run.axes), static_cast<int64_t>(dim));
      return true;
    }
  }
  return false;
}

// Axes that will be split again elsewhere, one at a time and the smallest first: each may free an
// all-to-all.
bool ReshardWalk::gather_for_now() {
  int64_t best = -1;
  int64_t least = 0;
  for (size_t dim = 0; dim < type_.global.size(); ++dim) {
    if (!leaves(dim) || to_.state(type_.spec.dim(dim).back()) == AxisState::kUnreduced) {
      continue;
    }
    const int64_t size = mesh_.axis_size(type_.spec.dim(dim).back());
    if (best < 0 || size < least) {
      best = static_cast<int64_t>(dim);
      least = size;
    }
  }
  if (best < 0) {
    return false;
  }
  record(CastKind::kGather, {type_.spec.dim(static_cast<size_t>(best)).back()}, best);
  return true;
}

void ReshardWalk::record(CastKind kind, AxisNames axes, int64_t dim, int64_t to_dim) {
  CastStep step{kind, std::move(axes), dim, to_dim, type_};
  if (kind == CastKind::kAllReduce || kind == CastKind::kReduceScatter) {
    step.reduction = type_.spec.unreduced_kind();
  }
  step.to.spec = spec_after(type_.spec, step);
  type_ = step.to;
  steps_.push_back(std::move(step));
}

// Gathers that follow one another on one dim move the same bytes in one piece.
void ReshardWalk::merge_gathers() {
  Casts merged;
  for (CastStep& step : steps_) {
    const bool gathers = step.kind == CastKind::kGather || step.kind == CastKind::kGatherReduced;
    if (gathers && !merged.empty() && merged.back().kind == step.kind &&
        merged.back().dim == step.dim) {
      step.axes = plus(std::move(step.axes), merged.back().axes);
      merged.back() = std::move(step);
    } else {
      merged.push_back(std::move(step));
    }
  }
  steps_ = std::move(merged);
}

}  // namespace brigade::sharding
