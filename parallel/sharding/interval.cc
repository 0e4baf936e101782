// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/interval.h"

#include <algorithm>

#include "parallel/base/check.h"

namespace brigade::sharding {

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    count *= size;
  }
  return count;
}

Interval interval(int64_t dim_size, int64_t index, int64_t parts) {
  BRIGADE_CHECK(dim_size >= 0 && 0 <= index && index < parts, dim_size, index, parts);
  // floor(k*D/N) as k*(D/N) + floor(k*(D mod N)/N): the products stay small for any dim.
  const auto boundary = [&](int64_t k) {
    return k * (dim_size / parts) + k * (dim_size % parts) / parts;
  };
  return {boundary(index), boundary(index + 1)};
}

Shape Box::shape() const {
  Shape shape;
  shape.reserve(dims.size());
  for (const Interval& dim : dims) {
    shape.push_back(dim.size());
  }
  return shape;
}

int64_t Box::element_count() const {
  return sharding::element_count(shape());
}

Box whole_box(const Shape& shape) {
  Box box;
  box.dims.reserve(shape.size());
  for (const int64_t size : shape) {
    box.dims.push_back({0, size});
  }
  return box;
}

Box intersect(const Box& a, const Box& b) {
  BRIGADE_CHECK(a.dims.size() == b.dims.size(), a.dims.size(), b.dims.size());
  Box common;
  common.dims.reserve(a.dims.size());
  for (size_t dim = 0; dim < a.dims.size(); ++dim) {
    const int64_t begin = std::max(a.dims[dim].begin, b.dims[dim].begin);
    common.dims.push_back({begin, std::max(begin, std::min(a.dims[dim].end, b.dims[dim].end))});
  }
  return common;
}

}  // namespace brigade::sharding
