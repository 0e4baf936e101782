// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/reshard_step.h"

#include <algorithm>

#include "parallel/base/check.h"
#include "parallel/sharding/permute.h"

namespace brigade::sharding {
namespace {

double local_elements(const mesh::Mesh& mesh, const TensorType& type) {
  double elements = 1;
  for (size_t dim = 0; dim < type.global.size(); ++dim) {
    elements *= static_cast<double>(type.global[dim]) /
                static_cast<double>(mesh.axes_size(type.spec.dim(dim)));
  }
  return elements;
}

}  // namespace

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

PartitionSpec spec_after(const PartitionSpec& spec, const CastStep& step) {
  const auto dim = static_cast<size_t>(step.dim);
  const AxisNames& axes = step.axes;
  switch (step.kind) {
    case CastKind::kSlice: return spec.with_dim(dim, plus(spec.dim(dim), axes));
    case CastKind::kSliceReduced:
      return spec.with_reduced(minus(spec.reduced(), axes))
          .with_dim(dim, plus(spec.dim(dim), axes));
    case CastKind::kReduceScatter:
      return spec.with_unreduced(minus(spec.unreduced(), axes), spec.unreduced_kind())
          .with_dim(dim, plus(spec.dim(dim), axes));
    case CastKind::kGather: return spec.with_dim(dim, minus(spec.dim(dim), axes));
    case CastKind::kGatherReduced:
      return spec.with_dim(dim, minus(spec.dim(dim), axes))
          .with_reduced(plus(spec.reduced(), axes));
    case CastKind::kPlace:
      return spec.with_dim(dim, minus(spec.dim(dim), axes))
          .with_unreduced(plus(spec.unreduced(), axes));
    case CastKind::kMarkReduced: return spec.with_reduced(plus(spec.reduced(), axes));
    case CastKind::kAllReduce:
      return spec.with_unreduced(minus(spec.unreduced(), axes), spec.unreduced_kind());
    case CastKind::kKeepFirst: return spec.with_unreduced(plus(spec.unreduced(), axes));
    case CastKind::kPermute: break;
    case CastKind::kAllToAll: {
      const auto to_dim = static_cast<size_t>(step.to_dim);
      return spec.with_dim(dim, minus(spec.dim(dim), axes))
          .with_dim(to_dim, plus(spec.dim(to_dim), axes));
    }
  }
  BRIGADE_CHECK(false, "no spec follows from", to_string(step.kind));
}

double elements_received(const mesh::Mesh& mesh, const TensorType& from, const Casts& casts) {
  double received = 0;
  PartitionSpec spec = from.spec;
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
      case CastKind::kPermute: received += before * permuted_share(mesh, spec, step.to.spec); break;
      case CastKind::kSlice:
      case CastKind::kSliceReduced:
      case CastKind::kMarkReduced:
      case CastKind::kKeepFirst:
      case CastKind::kPlace: break;
    }
    before = after;
    spec = step.to.spec;
  }
  return received;
}

}  // namespace brigade::sharding
