// SPDX-License-Identifier: Apache-2.0
#include "tests/parallel/tensor/row_check.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/base/text.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/tensor/casts.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::tensor {
namespace {

using sharding::TensorType;

/// This rank's box of a whole tensor.
at::Tensor piece_of(const Program& program, at::Tensor whole, const TensorType& type) {
  const sharding::Box box =
      sharding::NamedSharding{program.mesh(), type.spec}.box(type.global, program.rank());
  for (size_t dim = 0; dim < box.dims.size(); ++dim) {
    whole = whole.narrow(static_cast<int64_t>(dim), box.dims[dim].begin, box.dims[dim].size());
  }
  return whole;
}

/// "" if the ranks hold `whole`, every copy of it; unreduced terms are summed first.
std::string holds(const ShardedTensor& tensor, const at::Tensor& whole, const std::string& what) {
  const at::NoGradGuard no_grad;
  Program& program = tensor.program();
  const TensorType& type = tensor.type();
  if (at::IntArrayRef(type.global) != whole.sizes()) {
    return concat(what, " is of type ", type.to_string(), ", expected sizes ", whole.sizes(), "; ");
  }
  at::Tensor local = tensor.local().detach();
  if (!type.spec.unreduced().empty()) {
    const TensorType plain{type.dtype, type.global, type.spec.with_reduced({})};
    local = reshard(ShardedTensor(program, plain, local), plain.spec.with_unreduced({}), "compare")
                .local();
  }
  const at::Tensor wanted = piece_of(program, whole.detach(), type);
  if (local.sizes() != wanted.sizes() || !at::equal(local, wanted)) {
    return concat(what,
                  " of type ",
                  type.to_string(),
                  " differs on rank ",
                  program.rank(),
                  ": ",
                  local.reshape({-1}),
                  " instead of ",
                  wanted.reshape({-1}),
                  "; ");
  }
  return "";
}

/// As place(), but that the terms of an unreduced operand are whole multiples of it: no rounding.
ShardedTensor place_exactly(Program& program, const at::Tensor& whole, const TensorType& type) {
  const at::NoGradGuard no_grad;
  const sharding::AxisNames& sums = type.spec.unreduced();
  const int64_t terms = program.mesh().axes_size(sums);
  const int64_t term = program.mesh().flattened_index(program.rank(), sums);
  const int64_t multiple = term > 0 ? term : 1 - terms * (terms - 1) / 2;
  const sharding::PartitionSpec dims = type.spec.with_unreduced({}).with_reduced({});
  const at::Tensor local = distribute(program, whole, dims).local();
  return ShardedTensor(program, type, sums.empty() ? local : local * multiple);
}

ShardedTensor leaf_of(Program& program, const at::Tensor& whole, const TensorType& type) {
  at::Tensor leaf = place_exactly(program, whole, type).local().clone();
  leaf.set_requires_grad(leaf.is_floating_point());
  return ShardedTensor(program, type, leaf);
}

std::vector<TensorType> types_of(const std::vector<Given>& operands) {
  std::vector<TensorType> types;
  for (const Given& operand : operands) {
    types.push_back(type_of(operand));
  }
  return types;
}

std::vector<at::Tensor> values_of(std::mt19937& random,
                                  const std::vector<Given>& operands,
                                  const std::vector<TensorType>& types) {
  std::vector<at::Tensor> values;
  for (size_t i = 0; i < types.size(); ++i) {
    values.push_back(whole_numbers(random, types[i], operands[i].below));
  }
  return values;
}

}  // namespace

TensorType type_of(const Given& given) {
  return given.type.find('[') == std::string::npos ? sharding::type(given.type)
                                                   : value_or_throw(TensorType::parse(given.type));
}

at::Tensor whole_numbers(std::mt19937& random, const TensorType& type, int64_t below) {
  const bool integers = type.dtype == DType::kInt64;
  std::vector<int64_t> values(static_cast<size_t>(sharding::element_count(type.global)));
  for (int64_t& value : values) {
    value = integers ? static_cast<int64_t>(random() % static_cast<uint64_t>(below))
                     : static_cast<int64_t>(random() % 5) - 2;
  }
  const at::Tensor whole = at::tensor(values, at::kLong).view(type.global);
  return integers ? whole : whole.to(at::kFloat);
}

std::string compare(Program& program,
                    std::mt19937& random,
                    const std::vector<TensorType>& types,
                    const std::vector<at::Tensor>& wholes,
                    const Op& op,
                    const WholeOp& whole_op,
                    TensorType* result) {
  std::vector<ShardedTensor> leaves;
  std::vector<at::Tensor> whole_leaves;
  for (size_t i = 0; i < types.size(); ++i) {
    leaves.push_back(leaf_of(program, wholes[i], types[i]));
    whole_leaves.push_back(wholes[i].detach().clone());
    whole_leaves.back().set_requires_grad(wholes[i].is_floating_point());
  }
  const ShardedTensor found = op(leaves);
  const at::Tensor wanted = whole_op(whole_leaves);
  if (result != nullptr) {
    *result = found.type();
  }
  std::string differences = holds(found, wanted, "result");
  if (!wanted.requires_grad() || at::IntArrayRef(found.type().global) != wanted.sizes()) {
    return differences;
  }
  if (!found.local().requires_grad()) {
    return concat(differences, "the result has no history on rank ", program.rank(), "; ");
  }
  const TensorType seed_type = dual(found.type());
  const at::Tensor cotangent = whole_numbers(random, seed_type, 0);
  torch::autograd::backward({wanted}, {cotangent});
  torch::autograd::backward({found.local()},
                            {place_exactly(program, cotangent, seed_type).local()});
  for (size_t i = 0; i < types.size(); ++i) {
    if (wholes[i].is_floating_point()) {
      differences +=
          holds(leaves[i].gradient(), whole_leaves[i].grad(), concat("gradient of operand ", i));
    }
  }
  return differences;
}

void expect_row(const std::vector<std::string>& meshes,
                const std::vector<Given>& operands,
                const std::string& result,
                const Op& op,
                const WholeOp& whole_op) {
  const std::vector<TensorType> types = types_of(operands);
  for (const std::string& mesh : meshes) {
    on_mesh(sharding::mesh_of(mesh).axes(), [&](Program& program) {
      std::mt19937 random(1);
      TensorType made;
      EXPECT_EQ(
          compare(program, random, types, values_of(random, operands, types), op, whole_op, &made),
          "")
          << "on " << mesh;
      EXPECT_EQ(made.to_string(), type_of(result).to_string()) << "on " << mesh;
    });
  }
}

void expect_refused(const std::string& mesh,
                    const std::vector<Given>& operands,
                    const Op& op,
                    const std::string& part) {
  const std::vector<TensorType> types = types_of(operands);
  on_mesh(sharding::mesh_of(mesh).axes(), [&](Program& program) {
    std::mt19937 random(1);
    std::vector<ShardedTensor> leaves;
    const std::vector<at::Tensor> values = values_of(random, operands, types);
    for (size_t i = 0; i < types.size(); ++i) {
      leaves.push_back(leaf_of(program, values[i], types[i]));
    }
    try {
      const ShardedTensor found = op(leaves);
      ADD_FAILURE() << "expected an error, found " << found.type().to_string();
    } catch (const Exception& exception) {
      EXPECT_EQ(exception.error().code, ErrorCode::kType) << exception.error().text;
      EXPECT_NE(exception.error().text.find(part), std::string::npos) << exception.error().text;
    }
  });
}

}  // namespace brigade::tensor
