// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/text.h"
#include "parallel/sharding/op_plan.h"
#include "parallel/sharding/reshard_walk.h"

namespace brigade::sharding {
namespace {

// The first wins among equals.
constexpr ReshardOrder kOrders[] = {{.reduce_early = false, .place_late = false, .plain = false},
                                    {.reduce_early = true, .place_late = false, .plain = false},
                                    {.reduce_early = false, .place_late = true, .plain = false},
                                    {.reduce_early = true, .place_late = true, .plain = false},
                                    {.reduce_early = false, .place_late = false, .plain = true}};

// A value held as equal copies with an unreduced gradient can only be split: as plain copies, or as
// terms of a sum, its gradient would be counted once per rank or not at all.
Result<void> check_ways(const mesh::Mesh& mesh, const TensorType& from, const TensorType& to) {
  for (const mesh::Axis& axis : mesh.axes()) {
    const AxisState after = to.spec.state(axis.name);
    if (from.spec.state(axis.name) == AxisState::kReduced &&
        (after == AxisState::kReplicated || after == AxisState::kUnreduced)) {
      return fail(ErrorCode::kType,
                  concat("no cast leads from ",
                         from.to_string(mesh),
                         " to ",
                         to.to_string(mesh),
                         ": over \"",
                         axis.name,
                         "\" (size ",
                         axis.size,
                         ") a reduced value cannot become ",
                         after == AxisState::kReplicated ? "replicated" : "unreduced",
                         "; reshard it to a dim split over \"",
                         axis.name,
                         "\" first"));
    }
  }
  return {};
}

}  // namespace

Result<Casts> plan_reshard(const mesh::Mesh& mesh,
                           const TensorType& from,
                           const PartitionSpec& to) {
  for (const PartitionSpec& spec : {from.spec, to}) {
    if (Result<void> legal = spec.check(mesh, from.global.size()); !legal) {
      return fail(legal.error());
    }
  }
  if (Result<void> ways = check_ways(mesh, from, {from.dtype, from.global, to}); !ways) {
    return fail(ways.error());
  }
  Casts best;
  double least = -1;
  for (const ReshardOrder& order : kOrders) {
    Casts casts = ReshardWalk(mesh, from, to, order).take();
    const double received = elements_received(mesh, from, casts);
    constexpr double kClearlyLess = 1 - 1e-9;  // rounding decides nothing
    if (least < 0 || received < least * kClearlyLess) {
      best = std::move(casts);
      least = received;
    }
  }
  return best;
}

}  // namespace brigade::sharding
