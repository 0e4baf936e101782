// SPDX-License-Identifier: Apache-2.0
/// What one cast makes of a spec, and what it costs. Part of planning reshards.
#pragma once

#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

AxisNames plus(AxisNames axes, const AxisNames& more);
AxisNames minus(AxisNames axes, const AxisNames& less);
/// From position `begin` on.
AxisNames tail(const AxisNames& axes, size_t begin);

/// The spec after a cast of any kind but kPermute, whose spec the step itself says. Axes that leave
/// a dim are its minor ones; those that arrive become minor.
PartitionSpec spec_after(const PartitionSpec& spec, const CastStep& step);

/// Elements that one rank receives over all steps, from sizes that need not divide.
double elements_received(const mesh::Mesh& mesh, const TensorType& from, const Casts& casts);

}  // namespace brigade::sharding
