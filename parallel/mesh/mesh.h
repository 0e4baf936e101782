// SPDX-License-Identifier: Apache-2.0
/// Mesh: named axes over ranks. A rank is a point, a group is a line, a plane or everything.
///
///   Mesh mesh = value_or_throw(Mesh::create({{"data", 2}, {"tp", 4}}));   // 8 ranks, "tp" fastest
///   mesh.coordinates(5);          // {1, 1}
///   mesh.group(5, {"data"});      // {1, 5}: rank 5 and those that differ from it in "data" alone
///
/// Axes are ordered slowest first; ranks are the row-major flattening of coordinates. Axes of size
/// 1 stay: they cost nothing and keep programs the same on every mesh. A value type; knows nothing
/// of processes or tensors.
///
/// Thread safety: immutable after creation; shared use is safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"

namespace brigade::mesh {

struct Axis {
  std::string name;
  int64_t size = 1;

  bool operator==(const Axis&) const = default;
};

/// An ordered list of axis names; where several axes act as one, the first is major (slowest).
using AxisNames = std::vector<std::string>;

class Mesh {
 public:
  /// No axes: one rank.
  Mesh() = default;

  /// Errors: kUsage for an empty or repeated name, one that is not a word ([A-Za-z_][A-Za-z0-9_]*),
  /// a size below 1, or more than 2^31 - 1 ranks; the text shows the axes.
  static Result<Mesh> create(std::vector<Axis> axes);

  const std::vector<Axis>& axes() const { return axes_; }
  /// How many ranks: the product of the sizes.
  int64_t size() const { return size_; }

  bool has_axis(std::string_view name) const;
  /// Position of an axis that must exist, from 0 = slowest.
  int64_t position(std::string_view name) const;
  int64_t axis_size(std::string_view name) const;
  /// Product of the sizes; 1 for none.
  int64_t axes_size(std::span<const std::string> names) const;

  std::vector<int64_t> coordinates(int64_t rank) const;
  int64_t rank_at(std::span<const int64_t> coordinates) const;
  int64_t coordinate(int64_t rank, std::string_view axis) const;
  /// Index of `rank` along several axes taken as one; the first is major.
  int64_t flattened_index(int64_t rank, std::span<const std::string> names) const;

  /// All ranks that share `rank`'s coordinates on every axis not named, ordered by flattened_index
  /// over `names`.
  std::vector<int64_t> group(int64_t rank, std::span<const std::string> names) const;

  /// `names` in the mesh's own order, slowest first.
  AxisNames in_mesh_order(AxisNames names) const;

  /// The mesh of the named axes alone, in this mesh's order: one pipeline stage's ranks, for
  /// example.
  Mesh sub_mesh(std::span<const std::string> names) const;

  /// "pp=2 x dp_replicate=1 x dp_shard=2 x tp=2".
  std::string to_string() const;

  bool operator==(const Mesh&) const = default;

 private:
  std::vector<Axis> axes_;
  std::vector<int64_t> strides_;
  int64_t size_ = 1;
};

}  // namespace brigade::mesh
