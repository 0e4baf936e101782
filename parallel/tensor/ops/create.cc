// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/create.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <ATen/ATen.h>

#include "parallel/base/text.h"
#include "parallel/sharding/elementwise_plan.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/sharding/type_rule.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {
namespace {

using sharding::Box;
using sharding::TensorType;

Result<void> check(const Program& program, std::string_view op, const TensorType& type) {
  const mesh::Mesh& mesh = program.mesh();
  if (Result<void> legal = type.spec.check(mesh, type.global.size()); !legal) {
    return sharding::fail_within(concat(op, ": "), legal.error());
  }
  if (!type.spec.unreduced().empty()) {
    return sharding::fail_type(
        sharding::rule::kUnreduced,
        concat(op,
               ": ",
               type.to_string(mesh),
               " is unreduced, so that no rank's term is known; make it replicated or sharded, "
               "then reshard it"));
  }
  return {};
}

Box box_of(const Program& program, const TensorType& type) {
  return sharding::NamedSharding{program.mesh(), type.spec}.box(type.global, program.rank());
}

using Block = std::array<float, 4>;

Block uniform_block(uint64_t seed, uint64_t block, uint32_t step, uint64_t stream) {
  Block values = {};
  std::ranges::transform(philox(seed, block, step, stream), values.begin(), uniform_float);
  return values;
}

/// f32 values as elements of the type.
template <class MakeBlock>
ShardedTensor random(Program& program,
                     const TensorType& type,
                     const RandomSource& source,
                     const MakeBlock& block) {
  const Box box = box_of(program, type);
  const at::Tensor values = at::empty(box.shape(), at::kFloat);
  fill_by_index(Runs(type.global, box), source, "random", block, values.mutable_data_ptr<float>());
  return ShardedTensor(program, type, values.to(scalar_type_of(type.dtype)));
}

}  // namespace

ShardedTensor full(Program& program, const TensorType& type, double value) {
  value_or_throw(check(program, "full", type));
  if (!is_float(type.dtype) && value != std::floor(value)) {
    throw Exception({ErrorCode::kType,
                     concat("full: ", type.to_string(program.mesh()), " cannot hold ", value),
                     -1});
  }
  return ShardedTensor(
      program, type, at::full(local_shape(program, type), value, scalar_type_of(type.dtype)));
}

ShardedTensor zeros(Program& program, const TensorType& type) {
  return full(program, type, 0);
}

ShardedTensor ones(Program& program, const TensorType& type) {
  return full(program, type, 1);
}

ShardedTensor iota(Program& program, const TensorType& type, int64_t dim) {
  value_or_throw(check(program, "iota", type));
  const auto rank = static_cast<int64_t>(type.global.size());
  const int64_t along = dim < 0 ? dim + rank : dim;
  if (along < 0 || along >= rank) {
    throw Exception({ErrorCode::kType,
                     concat("iota: ", type.to_string(program.mesh()), " has no dim ", dim),
                     -1});
  }
  const Box box = box_of(program, type);
  const sharding::Interval& interval = box.dims[static_cast<size_t>(along)];
  sharding::Shape row(type.global.size(), 1);
  row[static_cast<size_t>(along)] = interval.size();
  const at::Tensor index = at::arange(interval.begin, interval.end, scalar_type_of(type.dtype));
  return ShardedTensor(program, type, index.view(row).expand(box.shape()).contiguous());
}

ShardedTensor random_uniform(Program& program, const TensorType& type, const RandomSource& source) {
  value_or_throw(check(program, "random_uniform", type));
  value_or_throw(sharding::expect_floats(program.mesh(), "random_uniform", type));
  return random(program, type, source, uniform_block);
}

ShardedTensor random_normal(Program& program, const TensorType& type, const RandomSource& source) {
  value_or_throw(check(program, "random_normal", type));
  value_or_throw(sharding::expect_floats(program.mesh(), "random_normal", type));
  return random(program, type, source, normal_block);
}

}  // namespace brigade::tensor
