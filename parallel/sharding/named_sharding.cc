// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/named_sharding.h"

#include <limits>
#include <utility>

#include "parallel/base/check.h"

namespace brigade::sharding {

Result<NamedSharding> NamedSharding::create(mesh::Mesh mesh, PartitionSpec spec) {
  if (Result<void> legal = spec.check(mesh, std::numeric_limits<size_t>::max()); !legal) {
    return fail(legal.error());
  }
  return NamedSharding{std::move(mesh), spec};
}

Shape NamedSharding::local_shape(const Shape& global, int64_t rank) const {
  return box(global, rank).shape();
}

Box NamedSharding::box(const Shape& global, int64_t rank) const {
  BRIGADE_CHECK(spec.dims() <= global.size(), spec.to_string(), global.size());
  Box box;
  box.dims.reserve(global.size());
  for (size_t dim = 0; dim < global.size(); ++dim) {
    const AxisNames& axes = spec.dim(dim);
    box.dims.push_back(
        interval(global[dim], mesh.flattened_index(rank, axes), mesh.axes_size(axes)));
  }
  return box;
}

int64_t NamedSharding::replica_id(int64_t rank) const {
  int64_t id = 0;
  for (const mesh::Axis& axis : mesh.axes()) {
    if (spec.dim_of(axis.name) < 0) {
      id = id * axis.size + mesh.coordinate(rank, axis.name);
    }
  }
  return id;
}

}  // namespace brigade::sharding
