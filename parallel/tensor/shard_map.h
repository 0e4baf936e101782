// SPDX-License-Identifier: Apache-2.0
/// shard_map and pmap: manual mode. The body sees plain local tensors and names its collectives.
///
///   auto mean = shard_map(program,
///                         [](const Manual& ranks, const at::Tensor& rows) {
///                           return ranks.psum(rows.sum(), {"data"}) / 64;
///                         },
///                         {PartitionSpec({{"data"}})},
///                         {PartitionSpec()});
///   ShardedTensor y = mean(x);
///
///   in_specs    may move data: a ShardedTensor is resharded (in the ledger), a plain at::Tensor is
///               distributed; std::nullopt takes a ShardedTensor as it is. The body gets the local
///               piece.
///   body        takes const Manual& and const at::Tensor&..., one for each argument; returns one
///               at::Tensor, a std::tuple of them or a std::vector. Ranks may branch on their
///               index; results that collectives make must be used, or not, on all ranks alike.
///   out_specs   never move data: they claim what the local results are pieces of. An axis that a
///               spec does not name is a claim that ranks along it hold equal bits, and is checked.
///               The global shape follows from the local ones, which must be its floor intervals.
///
/// Gradients. Each rank's local value is a variable of its own. An input that is not split over an
/// axis is cast R -> Rd, so that its ranks' gradients are summed (backward: all-reduce). The
/// cotangent of an output that is equal on all ranks of an axis enters on the first of them alone
/// (R -> U); of a Reduced one each rank brings its own term, of an Unreduced one all bring the
/// whole. An Unreduced input must come out with equal gradients on its ranks, which is checked.
///
/// Collective: what in_specs and the body do; then a few words per output over the whole mesh.
/// Errors:     kType, the same on all ranks, naming argument or output, axis and the ranks that
///             differ. Thrown as Exception.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "parallel/tensor/boundary.h"
#include "parallel/tensor/manual.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {

struct ShardMapOptions {
  bool check = true;  ///< compare what claims to be equal; off: a wrong claim is garbage, silently
};

/// The two sides of one shard_map or pmap; what does not depend on the body.
class ShardMapBoundary {
 public:
  ShardMapBoundary(Program& program,
                   const BoundaryShardings& in,
                   const BoundaryShardings& out,
                   ShardMapOptions options);
  /// Of a pmap: as many arguments and results as there are, dim 0 of each over `axis`.
  ShardMapBoundary(Program& program, const std::string& axis);

  Program& program() const { return program_; }
  std::vector<at::Tensor> enter(const Arguments& arguments) const;
  std::vector<ShardedTensor> leave(const std::vector<at::Tensor>& results) const;

 private:
  using Specs = std::vector<std::optional<sharding::PartitionSpec>>;

  Specs specs_for(size_t values, const Specs& specs, std::string_view values_name) const;

  Program& program_;
  std::string name_;  ///< "shard_map" or "pmap", for messages
  Specs in_;
  Specs out_;
  std::optional<sharding::PartitionSpec> alike_;
  ShardMapOptions options_;
};

/// The sharded results in the form in which the body returned the local ones.
inline ShardedTensor formed_as(const at::Tensor&, std::vector<ShardedTensor> results) {
  return std::move(results[0]);
}
inline std::vector<ShardedTensor> formed_as(const std::vector<at::Tensor>&,
                                            std::vector<ShardedTensor> results) {
  return results;
}
template <class... Local>
auto formed_as(const std::tuple<Local...>&, const std::vector<ShardedTensor>& results) {
  const auto pick = [&]<size_t... index>(std::index_sequence<index...>) {
    return std::make_tuple(results[index]...);
  };
  return pick(std::index_sequence_for<Local...>());
}

template <class Body>
class ShardMapped {
 public:
  ShardMapped(ShardMapBoundary boundary, Body body)
      : boundary_(std::move(boundary)), body_(std::move(body)) {}

  /// Each argument is a ShardedTensor or an at::Tensor.
  template <class... Each>
  auto operator()(const Each&... arguments) const {
    const Manual ranks(boundary_.program());
    const std::vector<at::Tensor> pieces = boundary_.enter({arguments...});
    const auto on_pieces = [&](const auto&... piece) { return body_(ranks, piece...); };
    const auto results = spread(on_pieces, pieces, std::index_sequence_for<Each...>());
    return formed_as(results, boundary_.leave(listed<at::Tensor>(results)));
  }

 private:
  ShardMapBoundary boundary_;
  Body body_;
};

template <class Body>
ShardMapped<Body> shard_map(Program& program,
                            Body body,
                            const BoundaryShardings& in_specs,
                            const BoundaryShardings& out_specs,
                            ShardMapOptions options = {}) {
  return {ShardMapBoundary(program, in_specs, out_specs, options), std::move(body)};
}

/// shard_map with dim 0 of every argument and of every result split over one axis.
template <class Body>
ShardMapped<Body> pmap(Program& program, Body body, const std::string& axis) {
  return {ShardMapBoundary(program, axis), std::move(body)};
}

}  // namespace brigade::tensor
