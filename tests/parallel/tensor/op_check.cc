// SPDX-License-Identifier: Apache-2.0
#include "tests/parallel/tensor/op_check.h"

#include <mutex>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/casts.h"
#include "tests/parallel/sharding/spelled.h"
#include "tests/support/rank_threads.h"

namespace brigade::tensor {
namespace {

struct Outcome {
  at::Tensor value;
  std::vector<at::Tensor> gradients;
};

/// Cotangents are a function of the shape, so that every rank draws the same; bf16 holds them.
at::Tensor cotangent(at::IntArrayRef sizes) {
  const at::Tensor index = at::arange(c10::multiply_integers(sizes), at::kFloat);
  return at::cos(index * 1.7 + 0.3).to(at::kBFloat16).to(at::kFloat).view(sizes);
}

std::vector<ShardedTensor> leaves(Program& program, const std::vector<Operand>& operands) {
  std::vector<ShardedTensor> pieces;
  for (const Operand& operand : operands) {
    ShardedTensor piece = place(program, operand.whole, operand.spec);
    at::Tensor leaf = piece.local().detach().clone();
    leaf.set_requires_grad(leaf.is_floating_point());
    pieces.emplace_back(program, piece.type(), leaf);
  }
  return pieces;
}

void backward(const ShardedTensor& result) {
  if (result.local().requires_grad()) {
    const at::Tensor whole = cotangent(result.type().global).to(result.local().scalar_type());
    const ShardedTensor seed = place(result.program(), whole, dual(result.type()).spec);
    torch::autograd::backward({result.local()}, {seed.local()});
  }
}

Outcome run_sharded(Program& program, const std::vector<Operand>& operands, const Op& op) {
  const std::vector<ShardedTensor> pieces = leaves(program, operands);
  const ShardedTensor result = op(pieces);
  backward(result);
  Outcome outcome{collect(result), {}};
  for (size_t i = 0; i < pieces.size(); ++i) {
    outcome.gradients.push_back(pieces[i].local().grad().defined()
                                    ? collect(pieces[i].gradient())
                                    : at::zeros_like(operands[i].whole));
  }
  return outcome;
}

Outcome run_truth(const std::vector<Operand>& operands, const Truth& truth) {
  std::vector<at::Tensor> wholes;
  for (const Operand& operand : operands) {
    wholes.push_back(operand.whole.clone());
    wholes.back().set_requires_grad(wholes.back().is_floating_point());
  }
  const at::Tensor value = truth(wholes);
  if (value.requires_grad()) {
    torch::autograd::backward({value}, {cotangent(value.sizes()).to(value.scalar_type())});
  }
  Outcome outcome{value.detach(), {}};
  for (const at::Tensor& whole : wholes) {
    outcome.gradients.push_back(whole.grad().defined() ? whole.grad() : at::zeros_like(whole));
  }
  return outcome;
}

void expect_close(const at::Tensor& found,
                  const at::Tensor& wanted,
                  double tolerance,
                  const std::string& what) {
  ASSERT_EQ(found.sizes(), wanted.sizes()) << what;
  ASSERT_EQ(found.scalar_type(), wanted.scalar_type()) << what;
  EXPECT_TRUE(found.is_floating_point()
                  ? at::allclose(found, wanted, tolerance, tolerance, /*equal_nan=*/true)
                  : at::equal(found, wanted))
      << what << ": largest difference "
      << (found.to(at::kDouble) - wanted.to(at::kDouble)).abs().max().item<double>();
}

void expect_close(const Program& program,
                  const Outcome& found,
                  const Outcome& wanted,
                  double tolerance,
                  const std::string& where = "") {
  const std::string rank = concat(where, "rank ", program.rank());
  expect_close(found.value, wanted.value, tolerance, rank + " value");
  ASSERT_EQ(found.gradients.size(), wanted.gradients.size());
  for (size_t i = 0; i < found.gradients.size(); ++i) {
    expect_close(found.gradients[i], wanted.gradients[i], tolerance, concat(rank, " gradient ", i));
  }
}

/// Within `ulps` of bf16 at the size of the element or, where it is smaller, of a typical one: sums
/// cancel, and their terms were rounded.
void expect_rounded(const at::Tensor& found,
                    const at::Tensor& wanted,
                    double ulps,
                    const std::string& what) {
  if (!found.is_floating_point()) {
    return;
  }
  ASSERT_EQ(found.sizes(), wanted.sizes()) << what;
  const at::Tensor difference = (found.to(at::kFloat) - wanted).abs();
  const at::Tensor size = at::maximum(wanted.abs(), wanted.square().mean().sqrt());
  EXPECT_TRUE((difference <= size * (ulps * 0x1p-8) + 1e-30).all().item<bool>())
      << what << ": " << (difference / (size * 0x1p-8 + 1e-30)).max().item<double>() << " ulp";
}

/// The mesh with the same axes on one rank.
std::vector<mesh::Axis> on_one_rank(std::vector<mesh::Axis> axes) {
  for (mesh::Axis& axis : axes) {
    axis.size = 1;
  }
  return axes;
}

sharding::TensorType parsed(const std::string& text) {
  return text.find('[') == std::string::npos ? sharding::type(text)
                                             : value_or_throw(sharding::TensorType::parse(text));
}

/// Calls `body` on every rank with the operands placed; all must return the same text.
std::string same_on_all_ranks(
    const Placed& placed,
    const std::function<std::string(Program&, const std::vector<ShardedTensor>&)>& body) {
  const std::vector<Operand> operands = operands_of(placed);
  std::mutex mutex;
  std::vector<std::string> texts;
  on_mesh(placed.mesh, [&](Program& program) {
    const std::vector<ShardedTensor> pieces = leaves(program, operands);
    program.ledger().clear();
    const std::string text = body(program, pieces);
    const std::lock_guard<std::mutex> lock(mutex);
    texts.push_back(text);
  });
  for (const std::string& text : texts) {
    EXPECT_EQ(text, texts.front()) << "ranks differ";
  }
  return texts.front();
}

}  // namespace

void on_mesh(const std::vector<mesh::Axis>& axes, const std::function<void(Program&)>& body) {
  const mesh::Mesh mesh = value_or_throw(mesh::Mesh::create(axes));
  testing::run_ranks(mesh.size(), [&](collective::World& world) {
    at::set_num_threads(1);
    Program program(
        mesh, world.rank(), [&](const std::vector<int64_t>& members, const std::string& name) {
          return world.group(members, name);
        });
    body(program);
  });
}

void on_mesh(const std::string& mesh, const std::function<void(Program&)>& body) {
  on_mesh(sharding::mesh_of(mesh).axes(), body);
}

ShardedTensor place(Program& program,
                    const at::Tensor& whole,
                    const sharding::PartitionSpec& spec) {
  const at::NoGradGuard no_grad;
  const mesh::Mesh& mesh = program.mesh();
  const ShardedTensor piece = distribute(program, whole, spec.with_unreduced({}).with_reduced({}));
  at::Tensor local = piece.local();
  if (!spec.unreduced().empty() && spec.unreduced_kind() == sharding::Reduction::kSum) {
    // Whole multiples that add up to one: whole numbers stay exact.
    const int64_t terms = mesh.axes_size(spec.unreduced());
    const bool last = mesh.flattened_index(program.rank(), spec.unreduced()) == terms - 1;
    local = local * (last ? 1 - 2 * (terms - 1) : 2);
  }
  const sharding::TensorType type{piece.type().dtype, piece.type().global, spec};
  return ShardedTensor(program, type, local);
}

at::Tensor numbers(at::IntArrayRef sizes, double phase) {
  return at::sin(at::arange(c10::multiply_integers(sizes), at::kFloat) * 0.37 + phase).view(sizes);
}

std::vector<Operand> operands_of(const Placed& placed) {
  std::vector<Operand> operands;
  for (const std::string& text : placed.types) {
    const sharding::TensorType type = parsed(text);
    const at::Tensor values =
        numbers(type.global, 0.3 + 0.9 * static_cast<double>(operands.size()));
    const at::Tensor whole = type.dtype == DType::kBool ? values > 0
                             : is_float(type.dtype)
                                 ? values.to(scalar_type_of(type.dtype))
                                 : at::round(values * 9).to(scalar_type_of(type.dtype));
    operands.push_back({whole, type.spec});
  }
  return operands;
}

void expect_equal_to_one_rank(const std::vector<mesh::Axis>& axes,
                              const std::vector<Operand>& operands,
                              const Op& op,
                              double tolerance) {
  Outcome wanted;
  on_mesh(on_one_rank(axes),
          [&](Program& program) { wanted = run_sharded(program, operands, op); });
  on_mesh(axes, [&](Program& program) {
    expect_close(program, run_sharded(program, operands, op), wanted, tolerance);
  });
}

void expect_equal_to_libtorch(const std::vector<Placed>& placements,
                              const Op& op,
                              const Truth& truth,
                              double tolerance) {
  for (const Placed& placed : placements) {
    const std::string where = concat(join(placed.types, " "), " on ", placed.mesh, ", ");
    const std::vector<Operand> operands = operands_of(placed);
    const Outcome wanted = run_truth(operands, truth);
    on_mesh(placed.mesh, [&](Program& program) {
      expect_close(program, run_sharded(program, operands, op), wanted, tolerance, where);
    });
  }
}

void expect_bf16_rounds_float(const std::string& mesh,
                              const std::vector<Operand>& operands,
                              const Op& op,
                              double ulps) {
  std::vector<Operand> narrow = operands;
  std::vector<Operand> wide = operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].whole.is_floating_point()) {
      narrow[i].whole = operands[i].whole.to(at::kBFloat16);
      wide[i].whole = narrow[i].whole.to(at::kFloat);
    }
  }
  Outcome wanted;
  on_mesh(on_one_rank(sharding::mesh_of(mesh).axes()),
          [&](Program& program) { wanted = run_sharded(program, wide, op); });
  on_mesh(mesh, [&](Program& program) {
    const Outcome found = run_sharded(program, narrow, op);
    const std::string where = concat("rank ", program.rank(), " of ", mesh);
    expect_rounded(found.value, wanted.value, ulps, where + " value");
    for (size_t i = 0; i < narrow.size(); ++i) {
      EXPECT_EQ(found.gradients[i].scalar_type(), narrow[i].whole.scalar_type());
      expect_rounded(found.gradients[i], wanted.gradients[i], ulps, concat(where, " gradient ", i));
    }
  });
}

void expect_bf16_rounds_float(const std::vector<Placed>& placements, const Op& op, double ulps) {
  for (const Placed& placed : placements) {
    SCOPED_TRACE(concat(join(placed.types, " "), " on ", placed.mesh));
    expect_bf16_rounds_float(placed.mesh, operands_of(placed), op, ulps);
  }
}

std::string ledger_of(const Placed& placed, const Op& op) {
  return same_on_all_ranks(placed, [&](Program& program, const std::vector<ShardedTensor>& pieces) {
    backward(op(pieces));
    std::vector<std::string> lines;
    for (const LedgerEntry& entry : program.ledger().entries()) {
      lines.push_back(concat(entry.pass == Pass::kForward ? "forward " : "backward ",
                             to_string(entry.cast),
                             ' ',
                             join(entry.axes, ","),
                             ' ',
                             entry.group_bytes));
    }
    return join(lines, "; ");
  });
}

std::string type_of(const Placed& placed, const Op& op) {
  return same_on_all_ranks(placed, [&](Program& program, const std::vector<ShardedTensor>& pieces) {
    return op(pieces).type().to_string(program.mesh());
  });
}

std::string refusal_of(const Placed& placed, const Op& op) {
  return same_on_all_ranks(placed,
                           [&](Program&, const std::vector<ShardedTensor>& pieces) -> std::string {
                             try {
                               (void)op(pieces);
                               return "";
                             } catch (const Exception& refused) {
                               return refused.what();
                             }
                           });
}

}  // namespace brigade::tensor
