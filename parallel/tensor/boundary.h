// SPDX-License-Identifier: Apache-2.0
/// What jit and shard_map have in common: how a caller says where values lie, what may be passed,
/// and how the results of a function become a list.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/mesh/mesh.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/sharding/partition_spec.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// What a boundary asks of one value: a spec, a spec with the mesh that it was written for (which
/// must be the program's), or nothing.
class BoundarySharding {
 public:
  BoundarySharding(std::nullopt_t) {}  // NOLINT: converts
  BoundarySharding(const sharding::PartitionSpec& spec) : spec_(spec) {}
  BoundarySharding(const sharding::NamedSharding& sharding)
      : spec_(sharding.spec), mesh_(sharding.mesh) {}

  const std::optional<sharding::PartitionSpec>& spec() const { return spec_; }
  const std::optional<mesh::Mesh>& mesh() const { return mesh_; }

 private:
  std::optional<sharding::PartitionSpec> spec_;
  std::optional<mesh::Mesh> mesh_;
};

using BoundaryShardings = std::vector<BoundarySharding>;

/// A borrowed argument: a piece with its type, or a plain tensor that is whole and equal on all
/// ranks.
class Argument {
 public:
  Argument(const ShardedTensor& tensor) : sharded_(&tensor) {}
  Argument(const at::Tensor& tensor) : plain_(&tensor) {}

  /// Null for a plain tensor.
  const ShardedTensor* sharded() const { return sharded_; }
  const at::Tensor* plain() const { return plain_; }

 private:
  const ShardedTensor* sharded_ = nullptr;
  const at::Tensor* plain_ = nullptr;
};

using Arguments = std::vector<Argument>;

/// Throws Exception with kType; `rule` is a name of sharding/type_rule.h.
[[noreturn]] void refuse_at_boundary(std::string_view rule, std::string text);

/// The specs of a boundary, after a look at each. `where`: "jit: in_shardings", for messages.
/// Errors: kType naming the place, for a spec that is illegal on the program's mesh or was made for
///         another. Thrown as Exception.
std::vector<std::optional<sharding::PartitionSpec>> specs_of(Program& program,
                                                             const BoundaryShardings& shardings,
                                                             std::string_view where);

/// Refuses lists of different lengths. Errors: kType, thrown as Exception.
void expect_count(std::string_view where,
                  size_t values,
                  std::string_view values_name,
                  size_t shardings,
                  std::string_view shardings_name);

/// The argument as a tensor of the program: a plain one is of replicated type.
/// Errors: kType for an undefined tensor or one of another program. Thrown as Exception.
ShardedTensor as_sharded(Program& program, const Argument& argument, const std::string& where);

/// The results of a function as a list: it returns one value, a std::tuple of values or a
/// std::vector.
template <class Value>
std::vector<Value> listed(const Value& result) {
  return {result};
}
template <class Value>
std::vector<Value> listed(const std::vector<Value>& results) {
  return results;
}
template <class Value, class... More>
std::vector<Value> listed(const std::tuple<Value, More...>& results) {
  return std::apply([](const auto&... each) { return std::vector<Value>{each...}; }, results);
}

/// Calls `function` with the elements of `values`, of which there are sizeof...(index).
template <class Function, class Value, size_t... index>
auto spread(const Function& function,
            const std::vector<Value>& values,
            std::index_sequence<index...>) {
  return function(values[index]...);
}

}  // namespace brigade::tensor
