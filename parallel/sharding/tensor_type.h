// SPDX-License-Identifier: Apache-2.0
/// TensorType: element type, global shape and spec; prints as f32[8@x,4@(y,z)]{U:w}.
///
/// The type alone decides which collective runs and how many bytes it moves (law 2).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "parallel/base/dtype.h"
#include "parallel/sharding/interval.h"
#include "parallel/sharding/partition_spec.h"

namespace brigade::sharding {

struct TensorType {
  DType dtype = DType::kFloat32;
  Shape global;
  PartitionSpec spec;

  bool operator==(const TensorType&) const = default;

  /// The text form back into a type.
  /// Errors: kUsage with the position.
  static Result<TensorType> parse(std::string_view text);

  /// Is the spec legal on `mesh` for this shape? Errors: PartitionSpec::check's, behind the type.
  Result<void> check(const mesh::Mesh& mesh) const;

  /// Axis sets in the order of their names; with a mesh, in mesh order.
  std::string to_string() const;
  std::string to_string(const mesh::Mesh& mesh) const;
  /// A few multiplications; equal types have equal hashes within a process, not between them.
  size_t hash() const;
};

}  // namespace brigade::sharding

template <>
struct std::hash<brigade::sharding::TensorType> {
  size_t operator()(const brigade::sharding::TensorType& type) const noexcept {
    return type.hash();
  }
};
