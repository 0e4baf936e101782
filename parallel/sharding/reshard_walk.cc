// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/reshard_walk.h"

#include <algorithm>
#include <utility>

#include "parallel/base/check.h"

namespace brigade::sharding {
namespace {

AxisNames plus(AxisNames axes, const AxisNames& more) {
  axes.insert(axes.end(), more.begin(), more.end());
  return axes;
}

AxisNames minus(AxisNames axes, const AxisNames& less) {
  std::erase_if(axes, [&](const std::string& axis) {
    return std::find(less.begin(), less.end(), axis) != less.end();
  });
  return axes;
}

AxisNames tail(const AxisNames& axes, size_t begin) {
  return {axes.begin() + static_cast<std::ptrdiff_t>(begin), axes.end()};
}

double local_elements(const mesh::Mesh& mesh, const TensorType& type) {
  double elements = 1;
  for (size_t dim = 0; dim < type.global.size(); ++dim) {
    elements *= static_cast<double>(type.global[dim]) /
                static_cast<double>(mesh.axes_size(type.spec.dim(dim)));
  }
  return elements;
}

// The spec after one cast. Leavers are minor, arrivals become minor.
PartitionSpec apply(const PartitionSpec& spec, const CastStep& step) {
  const auto dim = static_cast<size_t>(step.dim);
  const AxisNames& axes = step.axes;
  switch (step.kind) {
    case CastKind::kSlice: return spec.with_dim(dim, plus(spec.dim(dim), axes));
    case CastKind::kSliceReduced:
      return spec.with_reduced(minus(spec.reduced(), axes))
          .with_dim(dim, plus(spec.dim(dim), axes));
    case CastKind::kReduceScatter:
      return spec.with_unreduced(minus(spec.unreduced(), axes))
          .with_dim(dim, plus(spec.dim(dim), axes));
    case CastKind::kGather: return spec.with_dim(dim, minus(spec.dim(dim), axes));
    case CastKind::kGatherReduced:
      return spec.with_dim(dim, minus(spec.dim(dim), axes))
          .with_reduced(plus(spec.reduced(), axes));
    case CastKind::kPlace:
      return spec.with_dim(dim, minus(spec.dim(dim), axes))
          .with_unreduced(plus(spec.unreduced(), axes));
    case CastKind::kMarkReduced: return spec.with_reduced(plus(spec.reduced(), axes));
    case CastKind::kAllReduce: return spec.with_unreduced(minus(spec.unreduced(), axes));
    case CastKind::kKeepFirst: return spec.with_unreduced(plus(spec.unreduced(), axes));
    case CastKind::kAllToAll: {
      const auto to_dim = static_cast<size_t>(step.to_dim);
      return spec.with_dim(dim, minus(spec.dim(dim), axes))
          .with_dim(to_dim, plus(spec.dim(to_dim), axes));
    }
  }
  BRIGADE_CHECK(false, "unknown cast kind", static_cast<int>(step.kind));
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
  if (slice() || reduce_scatter() || all_reduce() || mark_reduced() || all_to_all() ||
      gather_for_good()) {
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
  for (const std::string& axis : tail(to_.dim(dim), type_.spec.dim(dim).size())) {
    const AxisState state = type_.spec.state(axis);
    if (!run.axes.empty() && state != run.state) {
      break;
    }
    run.state = state;
    run.axes.push_back(axis);
  }
  return run;
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
  step.to.spec = apply(type_.spec, step);
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

double elements_received(const mesh::Mesh& mesh, const TensorType& from, const Casts& casts) {
  double received = 0;
  double before = local_elements(mesh, from);
  for (const CastStep& step : casts) {
    const double after = local_elements(mesh, step.to);
    const auto ranks = static_cast<double>(mesh.axes_size(step.axes));
    switch (step.kind) {
      case CastKind::kGather:
      case CastKind::kGatherReduced: received += after - before; break;
      case CastKind::kReduceScatter: received += before - after; break;
      case CastKind::kAllReduce: received += 2 * before * (ranks - 1) / ranks; break;
      case CastKind::kAllToAll: received += before * (ranks - 1) / ranks; break;
      case CastKind::kSlice:
      case CastKind::kSliceReduced:
      case CastKind::kMarkReduced:
      case CastKind::kKeepFirst:
      case CastKind::kPlace: break;
    }
    before = after;
  }
  return received;
}

}  // namespace brigade::sharding
