// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/text.h"
#include "parallel/sharding/op_plan.h"
#include "parallel/sharding/reshard_step.h"
#include "parallel/sharding/reshard_walk.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {
namespace {

// The first wins among equals.
constexpr ReshardOrder kOrders[] = {{.permute = true},
                                    {.reduce_early = true, .permute = true},
                                    {.place_late = true, .permute = true},
                                    {.reduce_early = true, .place_late = true, .permute = true},
                                    {},
                                    {.reduce_early = true},
                                    {.place_late = true},
                                    {.reduce_early = true, .place_late = true},
                                    {.plain = true}};

tl::unexpected<Error> no_cast(const mesh::Mesh& mesh,
                              const TensorType& from,
                              const TensorType& to,
                              std::string_view why) {
  return fail_type(
      rule::kNoCast,
      concat("no cast leads from ", from.to_string(mesh), " to ", to.to_string(mesh), ": ", why));
}

// Terms of a maximum come from a maximum alone and end in one.
Result<void> check_kinds(const mesh::Mesh& mesh, const TensorType& from, const TensorType& to) {
  const Reduction now = from.spec.unreduced_kind();
  const Reduction then = to.spec.unreduced_kind();
  if (!from.spec.unreduced().empty() && !to.spec.unreduced().empty() && now != then) {
    return no_cast(mesh,
                   from,
                   to,
                   concat("terms of a ",
                          to_string(now),
                          " cannot become terms of a ",
                          to_string(then),
                          "; reshard to a spec without unreduced axes to finish the ",
                          to_string(now)));
  }
  for (const std::string& axis : to.spec.unreduced()) {
    if (then != Reduction::kSum && from.spec.state(axis) != AxisState::kUnreduced) {
      return no_cast(mesh,
                     from,
                     to,
                     concat("terms of a ",
                            to_string(then),
                            " over \"",
                            axis,
                            "\" (size ",
                            mesh.axis_size(axis),
                            ") cannot be made of a value that is not unreduced over it; only a ",
                            to_string(then),
                            " over a dim split by \"",
                            axis,
                            "\" leaves them"));
    }
  }
  return {};
}

// A value held as equal copies with an unreduced gradient can only be split: as plain copies, or as
// terms of a sum, its gradient would be counted once per rank or not at all.
Result<void> check_ways(const mesh::Mesh& mesh, const TensorType& from, const TensorType& to) {
  for (const mesh::Axis& axis : mesh.axes()) {
    const AxisState after = to.spec.state(axis.name);
    if (from.spec.state(axis.name) == AxisState::kReduced &&
        (after == AxisState::kReplicated || after == AxisState::kUnreduced)) {
      return no_cast(mesh,
                     from,
                     to,
                     concat("over \"",
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
  return check_kinds(mesh, from, to);
}

}  // namespace

Result<Casts> plan_reshard(const mesh::Mesh& mesh,
                           const TensorType& from,
                           const PartitionSpec& to) {
  const TensorType target{from.dtype, from.global, to};
  for (const TensorType& type : {from, target}) {
    if (Result<void> legal = type.check(mesh); !legal) {
      return fail(legal.error());
    }
  }
  if (Result<void> ways = check_ways(mesh, from, target); !ways) {
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
