// SPDX-License-Identifier: Apache-2.0
/// PartitionSpec: which mesh axes split which dims of a tensor, and which axes carry unfinished
/// sums.
///
///   PartitionSpec({{"data"}, {}});                       // dim 0 over "data", dim 1 not split
///   PartitionSpec({{"tp", "dp_shard"}, {}});             // dim 0 over both, "tp" major
///   PartitionSpec({{}, {}}).with_unreduced({"tp"});      // each tp rank has one term of a sum
///   PartitionSpec({{}, {}}).with_reduced({"dp_shard"});  // equal copies, unreduced gradient
///   PartitionSpec().with_unreduced({"tp"}, Reduction::kMax);  // each has one candidate of a max
///
/// Per axis a tensor is in one of four states: Sharded (the axis splits a dim), Replicated (not
/// mentioned), Unreduced, Reduced. The terms of the unreduced set are joined by a sum unless the
/// set says max or min. Terms of a max can only be kept or reduced, and have no gradient. Trailing
/// dims that are not split do not count: ("data") equals ("data", None). Sets print in mesh order
/// when a mesh is at hand (tensor_type.h), by name otherwise.
///
/// Cost:          specs are interned: two are equal exactly if their pointers are, so comparison
///                and hashing take one word.
/// Thread safety: immutable; creation takes a lock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"

namespace brigade::sharding {

using mesh::AxisNames;

/// How ranks hold a tensor along one axis.
enum class AxisState { kReplicated, kSharded, kUnreduced, kReduced };

/// How the terms of an unreduced value are joined.
enum class Reduction : uint8_t { kSum, kMax, kMin };

/// "sum", "max", "min".
std::string_view to_string(Reduction reduction);

class PartitionSpec {
 public:
  /// Axes of one dim, major first; empty = not split.
  using Dim = AxisNames;

  /// Replicated over everything.
  PartitionSpec();
  explicit PartitionSpec(std::vector<Dim> dims);

  /// The text form: `("data", None)`, `(("tp", "dp_shard"), None)`, with `{U:tp}`, `{Umax:tp}`,
  /// `{Umin:tp}` or `{R:dp_shard}` behind it.
  /// Errors: kUsage with the position.
  static Result<PartitionSpec> parse(std::string_view text);

  /// The same spec with another set. The three kinds of mention must be disjoint; check() says
  /// whether they are.
  PartitionSpec with_unreduced(AxisNames axes, Reduction kind = Reduction::kSum) const;
  PartitionSpec with_reduced(AxisNames axes) const;
  /// The same dims with both sets of another spec.
  PartitionSpec with_sets_of(const PartitionSpec& other) const;
  /// The same sets with other axes on one dim.
  PartitionSpec with_dim(size_t dim, Dim axes) const;

  /// Axes of dim `dim`; empty beyond the last that is split.
  const Dim& dim(size_t dim) const;
  /// How many leading dims are listed; no later dim is split.
  size_t dims() const;
  /// Sorted by name.
  const AxisNames& unreduced() const;
  const AxisNames& reduced() const;
  /// How the terms are joined; kSum if nothing is unreduced.
  Reduction unreduced_kind() const;

  AxisState state(std::string_view axis) const;
  /// The dim that `axis` splits, -1 if none.
  int64_t dim_of(std::string_view axis) const;

  /// Is this a legal spec for a tensor of `rank` dims on `mesh`? Errors: kType naming the axis that
  /// is unknown, used twice or in two sets, or the dims that are too many.
  Result<void> check(const mesh::Mesh& mesh, size_t rank) const;

  std::string to_string() const;

  bool operator==(const PartitionSpec&) const = default;
  size_t hash() const { return std::hash<const void*>{}(data_); }

  struct Data;  // the interned value

 private:
  explicit PartitionSpec(const Data* data) : data_(data) {}

  const Data* data_;
};

}  // namespace brigade::sharding

template <>
struct std::hash<brigade::sharding::PartitionSpec> {
  size_t operator()(const brigade::sharding::PartitionSpec& spec) const noexcept {
    return spec.hash();
  }
};
