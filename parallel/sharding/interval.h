// SPDX-License-Identifier: Apache-2.0
/// Which slice of a dim a rank holds: the floor interval, for sizes that divide and for sizes that
/// do not.
///
/// Part d of N of a dim of size D is [floor(d*D/N), floor((d+1)*D/N)). For a dim over several axes
/// the formula is applied once to the flattened index, so every boundary of the split over the
/// major axes is a boundary of the finer split: gathering the minor axis of `D@(x, y)` gives
/// exactly the shards of `D@x`. Parts differ by at most one; empty parts are legal (3 over 8:
/// 0,0,1,0,0,1,0,1).
#pragma once

#include <cstdint>
#include <vector>

namespace brigade::sharding {

using Shape = std::vector<int64_t>;

/// Number of elements; 1 for a scalar.
int64_t element_count(const Shape& shape);

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const Interval&) const = default;
};

/// Part `index` of `parts` of a dim of `dim_size` elements. Needs 0 <= index < parts, dim_size >=
/// 0.
Interval interval(int64_t dim_size, int64_t index, int64_t parts);

/// A box of a tensor: one interval per dim.
struct Box {
  std::vector<Interval> dims;

  Shape shape() const;
  int64_t element_count() const;
  bool operator==(const Box&) const = default;
};

/// All of a tensor.
Box whole_box(const Shape& shape);

/// What two boxes of one tensor have in common; where nothing, a dim of size 0.
Box intersect(const Box& a, const Box& b);

}  // namespace brigade::sharding
