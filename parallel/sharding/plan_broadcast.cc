// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/shape_plan.h"
#include "parallel/sharding/shape_rules.h"

namespace brigade::sharding {
namespace {

std::string name_of(const mesh::Mesh& mesh, const TensorType& operand, const Shape& shape) {
  return concat("broadcast of ", operand.to_string(mesh), " to (", join(shape), ')');
}

tl::unexpected<Error> error(const mesh::Mesh& mesh,
                            const TensorType& operand,
                            const Shape& shape,
                            std::string_view text) {
  return fail(ErrorCode::kType, concat(name_of(mesh, operand, shape), ": ", text));
}

/// The leading axes that `out` puts on a new dim and over which the operand is equal copies.
AxisNames free_axes(const TensorType& operand,
                    const std::optional<PartitionSpec>& out,
                    size_t dim) {
  AxisNames axes = out ? out->dim(dim) : AxisNames();
  const auto end = std::find_if(axes.begin(), axes.end(), [&](const std::string& axis) {
    const AxisState state = operand.spec.state(axis);
    return state != AxisState::kReplicated && state != AxisState::kReduced;
  });
  axes.erase(end, axes.end());
  return axes;
}

/// What becomes of each dim of the result, and which axes its new dims take up.
struct Dims {
  std::vector<AxisNames> axes;
  AxisNames taken;
};

Result<Dims> choose_dims(const mesh::Mesh& mesh,
                         const TensorType& operand,
                         const Shape& shape,
                         const std::optional<PartitionSpec>& out) {
  if (shape.size() < operand.global.size()) {
    return error(mesh, operand, shape, "the result must not have fewer dims");
  }
  const size_t added = shape.size() - operand.global.size();
  Dims dims;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const int64_t size = dim < added ? 1 : operand.global[dim - added];
    if (dim >= added && size == shape[dim]) {
      dims.axes.push_back(operand.spec.dim(dim - added));
      continue;
    }
    if (shape[dim] < 0) {
      return error(
          mesh, operand, shape, concat("a dim of the result cannot be of size ", shape[dim]));
    }
    if (size != 1) {
      return error(mesh,
                   operand,
                   shape,
                   concat("dim ", dim - added, " of the operand is neither 1 nor ", shape[dim]));
    }
    if (dim >= added && mesh.axes_size(operand.spec.dim(dim - added)) > 1) {
      return error(mesh,
                   operand,
                   shape,
                   concat("dim ",
                          dim - added,
                          " of the operand is split over ",
                          join(operand.spec.dim(dim - added)),
                          " and cannot be repeated; reshard it first"));
    }
    dims.axes.push_back(free_axes(operand, out, dim));
    dims.taken.insert(dims.taken.end(), dims.axes.back().begin(), dims.axes.back().end());
  }
  return dims;
}

bool contains(const AxisNames& axes, const std::string& axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

Result<OpPlan> plan_broadcast(const mesh::Mesh& mesh,
                              const TensorType& operand,
                              const Shape& shape,
                              const std::optional<PartitionSpec>& out) {
  if (Result<void> legal = check_legal("broadcast", mesh, operand); !legal) {
    return fail(legal.error());
  }
  if (out) {
    if (Result<void> legal = out->check(mesh, shape.size()); !legal) {
      return error(mesh, operand, shape, concat("out=: ", legal.error().text));
    }
  }
  const Result<Dims> dims = choose_dims(mesh, operand, shape, out);
  if (!dims) {
    return fail(dims.error());
  }
  AxisNames copies = operand.spec.reduced();
  std::copy_if(dims->taken.begin(),
               dims->taken.end(),
               std::back_inserter(copies),
               [&](const std::string& axis) { return !contains(copies, axis); });
  Result<Casts> marks = plan_reshard(mesh, operand, operand.spec.with_reduced(copies));
  if (!marks) {
    return fail(marks.error());
  }
  AxisNames reduced = operand.spec.reduced();
  std::erase_if(reduced, [&](const std::string& axis) { return contains(dims->taken, axis); });
  OpPlan plan = free_plan(
      1,
      {operand.dtype, shape, carry_sets(operand.spec.with_reduced(std::move(reduced)), dims->axes)},
      dims->taken.empty() ? "broadcast"
                          : concat("broadcast: new dims are split over ", join(dims->taken)));
  plan.inputs[0] = std::move(*marks);
  return with_out(name_of(mesh, operand, shape), mesh, std::move(plan), out);
}

}  // namespace brigade::sharding
