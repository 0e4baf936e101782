// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/shape.h"

#include <numeric>

#include <ATen/ATen.h>

#include "parallel/base/text.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using sharding::Shape;

std::vector<sharding::TensorType> types_of(const std::vector<ShardedTensor>& tensors) {
  std::vector<sharding::TensorType> types;
  for (const ShardedTensor& tensor : tensors) {
    types.push_back(tensor.type());
  }
  return types;
}

/// No operands, no program to plan in.
void demand_operands(std::string_view op, const std::vector<ShardedTensor>& tensors) {
  if (tensors.empty()) {
    throw Exception({ErrorCode::kType, concat(op, ": expected an operand"), -1});
  }
}

/// [.., S, ..] -> [.., S + (S - 1) * interior, ..]
at::Tensor spread(const at::Tensor& x, int64_t dim, int64_t interior, double value) {
  if (interior == 0 || x.size(dim) < 2) {
    return x;
  }
  std::vector<int64_t> sizes = x.sizes().vec();
  const int64_t spread_size = sizes[static_cast<size_t>(dim)] * (interior + 1);
  sizes[static_cast<size_t>(dim)] = spread_size;
  std::vector<int64_t> gaps = x.unsqueeze(dim + 1).sizes().vec();
  gaps[static_cast<size_t>(dim) + 1] = interior;
  const at::Tensor filled = at::full(gaps, value, x.options());
  return at::cat({x.unsqueeze(dim + 1), filled}, dim + 1)
      .reshape(sizes)
      .narrow(dim, 0, spread_size - interior);
}

at::Tensor pad_local(const at::Tensor& x,
                     int64_t dim,
                     const sharding::Padding& padding,
                     double value) {
  std::vector<int64_t> edges(static_cast<size_t>(x.dim() - dim) * 2);  // last dim first
  edges[edges.size() - 2] = padding.low;
  edges[edges.size() - 1] = padding.high;
  return at::constant_pad_nd(spread(x, dim, padding.interior, value), edges, value);
}

}  // namespace

ShardedTensor reshape(const ShardedTensor& x,
                      const Shape& shape,
                      const std::optional<PartitionSpec>& out) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("reshape", x, shape, out), [&] {
    return sharding::plan_reshape(program.mesh(), x.type(), shape, out);
  });
  return run(
      planned,
      [&](const at::Tensor& local) { return local.reshape(planned.local_result->local_shape); },
      x);
}

ShardedTensor transpose(const ShardedTensor& x, const std::vector<int64_t>& permutation) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("transpose", x, permutation), [&] {
    return sharding::plan_transpose(program.mesh(), x.type(), permutation);
  });
  return run(
      planned, [&](const at::Tensor& local) { return local.permute(permutation); }, x);
}

ShardedTensor expand_dims(const ShardedTensor& x, int64_t dim) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("expand_dims", x, dim), [&] {
    return sharding::plan_expand_dims(program.mesh(), x.type(), dim);
  });
  return run(
      planned, [&](const at::Tensor& local) { return local.unsqueeze(dim); }, x);
}

ShardedTensor squeeze(const ShardedTensor& x, int64_t dim) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("squeeze", x, dim), [&] {
    return sharding::plan_squeeze(program.mesh(), x.type(), dim);
  });
  return run(
      planned, [&](const at::Tensor& local) { return local.squeeze(dim); }, x);
}

ShardedTensor broadcast_to(const ShardedTensor& x,
                           const Shape& shape,
                           const std::optional<PartitionSpec>& out) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("broadcast_to", x, shape, out), [&] {
    return sharding::plan_broadcast(program.mesh(), x.type(), shape, out);
  });
  return run(
      planned,
      [&](const at::Tensor& local) { return local.expand(planned.local_result->local_shape); },
      x);
}

ShardedTensor concatenate(const std::vector<ShardedTensor>& tensors, int64_t dim) {
  demand_operands("concatenate", tensors);
  Program& program = tensors[0].program();
  const Planned& planned = program.plan(PlanKey("concatenate", std::span(tensors), dim), [&] {
    return sharding::plan_concat(program.mesh(), types_of(tensors), dim);
  });
  return run(
      planned,
      [&](const std::vector<at::Tensor>& locals) { return at::cat(locals, dim); },
      std::span(tensors));
}

ShardedTensor stack(const std::vector<ShardedTensor>& tensors, int64_t dim) {
  demand_operands("stack", tensors);
  Program& program = tensors[0].program();
  const Planned& planned = program.plan(PlanKey("stack", std::span(tensors), dim), [&] {
    return sharding::plan_stack(program.mesh(), types_of(tensors), dim);
  });
  return run(
      planned,
      [&](const std::vector<at::Tensor>& locals) { return at::stack(locals, dim); },
      std::span(tensors));
}

ShardedTensor slice(const ShardedTensor& x, int64_t dim, int64_t begin, int64_t end) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("slice", x, dim, begin, end), [&] {
    return sharding::plan_slice(program.mesh(), x.type(), dim, begin, end);
  });
  const bool all = end - begin == x.type().global[static_cast<size_t>(dim)];
  return run(
      planned,
      [&](const at::Tensor& local) { return all ? local : local.narrow(dim, begin, end - begin); },
      x);
}

std::vector<ShardedTensor> split(const ShardedTensor& x,
                                 const std::vector<int64_t>& sizes,
                                 int64_t dim) {
  const Shape& global = x.type().global;
  const int64_t sum = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  if (dim < 0 || dim >= static_cast<int64_t>(global.size()) ||
      sum != global[static_cast<size_t>(dim)]) {
    throw Exception({ErrorCode::kType,
                     concat("split: sizes (",
                            join(sizes),
                            ") do not add up to dim ",
                            dim,
                            " of ",
                            x.type().to_string(x.program().mesh())),
                     -1});
  }
  std::vector<ShardedTensor> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    parts.push_back(slice(x, dim, begin, begin + size));
    begin += size;
  }
  return parts;
}

ShardedTensor pad(const ShardedTensor& x,
                  int64_t dim,
                  const sharding::Padding& padding,
                  double value) {
  Program& program = x.program();
  const bool zeros = value == 0;
  const Planned& planned = program.plan(
      PlanKey("pad", x, dim, padding.low, padding.high, padding.interior, zeros),
      [&] { return sharding::plan_pad(program.mesh(), x.type(), dim, padding, zeros); });
  return run(
      planned, [&](const at::Tensor& local) { return pad_local(local, dim, padding, value); }, x);
}

}  // namespace brigade::tensor
