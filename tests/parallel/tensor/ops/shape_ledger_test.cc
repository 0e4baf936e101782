// SPDX-License-Identifier: Apache-2.0
// The conformance rows of products, shapes and lookups as collectives: which, how many, how many
// bytes.
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/base/text.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/ops/einsum.h"
#include "parallel/tensor/ops/segment_sum.h"
#include "parallel/tensor/ops/shape.h"
#include "parallel/tensor/ops/take.h"
#include "tests/parallel/sharding/spelled.h"
#include "tests/parallel/tensor/row_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using sharding::spec;

using Tensors = std::vector<ShardedTensor>;

/// "forward all_gather y 32; backward ..."
std::string text_of(const Ledger& ledger) {
  std::vector<std::string> lines;
  for (const LedgerEntry& entry : ledger.entries()) {
    lines.push_back(concat(to_string(entry.pass),
                           ' ',
                           collective_of(entry.cast),
                           ' ',
                           join(entry.axes, ","),
                           ' ',
                           entry.group_bytes));
  }
  return join(lines, "; ");
}

Tensors leaves_of(Program& program, const std::vector<Given>& operands) {
  std::mt19937 random(1);
  Tensors leaves;
  for (const Given& operand : operands) {
    const sharding::TensorType type = type_of(operand);
    at::Tensor leaf =
        place(program, whole_numbers(random, type, operand.below), type.spec).local().clone();
    leaf.set_requires_grad(leaf.is_floating_point());
    leaves.emplace_back(program, type, leaf);
  }
  return leaves;
}

/// A backward from a cotangent of ones.
void differentiate(const ShardedTensor& result) {
  torch::autograd::backward({result.local()}, {at::ones_like(result.local())});
}

/// The ledger of the op, forward and backward, on every rank.
void expect_ledger(const std::string& mesh,
                   const std::vector<Given>& operands,
                   const Op& op,
                   const std::string& ledger) {
  on_mesh(sharding::mesh_of(mesh).axes(), [&](Program& program) {
    const Tensors leaves = leaves_of(program, operands);
    program.ledger().clear();
    differentiate(op(leaves));
    EXPECT_EQ(text_of(program.ledger()), ledger) << "rank " << program.rank();
  });
}

void expect_dot(const std::string& mesh,
                const std::string& a,
                const std::string& b,
                const std::string& out,
                const std::string& ledger) {
  const std::optional<PartitionSpec> asked =
      out.empty() ? std::nullopt : std::optional<PartitionSpec>(spec(out));
  expect_ledger(
      mesh,
      {a, b},
      [&](const Tensors& x) { return einsum("mk,kn->mn", x[0], x[1], asked); },
      ledger);
}

TEST(ShapeLedger, D1_and_D2_communicate_for_gradients_alone) {
  expect_dot("x2,y2", "8@x,2", "2,8@y", "", "backward all_reduce x 64; backward all_reduce y 64");
  expect_dot("x2,y2", "8@x,2", "2,8", "", "backward all_reduce x 128");
}

TEST(ShapeLedger, D3_to_D5_gather_the_side_that_alone_splits_the_contraction) {
  expect_dot("x2,y2", "8@x,2@y", "2,8", "", "forward all_gather y 32; backward all_reduce x 128");
  expect_dot(
      "x2,y2", "8@x,2", "2@x,8", "", "forward all_gather x 64; backward reduce_scatter x 64");
  expect_dot(
      "x2,y2", "8,2@y", "2,8@y", "", "forward all_gather y 64; backward reduce_scatter y 64");
}

TEST(ShapeLedger, D10_joins_terms_as_out_says) {
  expect_dot(
      "x2,y2", "8@x,2@y", "2@y,8", "8@x,8", "forward all_reduce y 256; backward all_reduce x 64");
  expect_dot("x2,y2",
             "8@x,2@y",
             "2@y,8",
             "8@x,8@y",
             "forward reduce_scatter y 128; backward all_gather y 128; backward all_reduce x 64");
}

TEST(ShapeLedger, L1_to_L3_one_collective_forward) {
  expect_dot(
      "x4,y2", "8@x,8@y", "8@y,8", "8@x,8", "forward all_reduce y 128; backward all_reduce x 768");
  expect_dot("x4,y2",
             "8@x,8@y",
             "8@y,8",
             "8@x,8@y",
             "forward reduce_scatter y 64; backward all_gather y 64; backward all_reduce x 768");
  expect_dot("x4,y2",
             "8@x,8@y",
             "8,8@y",
             "8@x,8@y",
             "forward all_gather y 64; backward all_reduce x 768; backward reduce_scatter y 64");
}

/// Two microbatches through four weights.
void run_microbatches(const Tensors& weights) {
  Program& program = weights[0].program();
  for (const double phase : {0.1, 0.7}) {
    ShardedTensor h = place(program, numbers({8, 4}, phase), PartitionSpec({{"x"}}));
    for (const ShardedTensor& weight : weights) {
      h = einsum("bi,io->bo", h, weight);
    }
    differentiate(h);
  }
}

TEST(ShapeLedger, I7_reduced_weights_are_summed_once_a_step) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const Tensors weights = leaves_of(program, {"4,4{R:x}", "4,4{R:x}", "4,4{R:x}", "4,4{R:x}"});
    program.ledger().clear();
    run_microbatches(weights);
    EXPECT_EQ(text_of(program.ledger()), "");
    Tensors gradients;
    for (const ShardedTensor& weight : weights) {
      gradients.push_back(reshape(weight.gradient(), {16}));
    }
    (void)reshard(concatenate(gradients, 0), PartitionSpec(), "step");
    EXPECT_EQ(text_of(program.ledger()), "forward all_reduce x 512");
  });
}

TEST(ShapeLedger, I7_replicated_weights_are_summed_in_every_microbatch) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const Tensors weights = leaves_of(program, {"4,4", "4,4", "4,4", "4,4"});
    program.ledger().clear();
    run_microbatches(weights);
    EXPECT_EQ(program.ledger().entries().size(), 8U);
    for (const LedgerEntry& entry : program.ledger().entries()) {
      EXPECT_EQ(collective_of(entry.cast), "all_reduce");
      EXPECT_EQ(entry.pass, Pass::kBackward);
    }
  });
}

TEST(ShapeLedger, G1_to_G20_move_nothing) {
  const std::vector<std::pair<std::string, sharding::Shape>> rows = {{"4@x,6@y,8", {4, 2, 3, 8}},
                                                                     {"4,12@(x,y),8", {4, 4, 3, 8}},
                                                                     {"8@(x,y)", {2, 4}},
                                                                     {"2@x,4@y", {8}},
                                                                     {"16@x,1", {1, 16, 1}}};
  for (const auto& [from, shape] : rows) {
    expect_ledger(
        "x2,y2", {from}, [&](const Tensors& x) { return reshape(x[0], shape); }, "");
  }
  expect_ledger(
      "x2,y2",
      {"4@x,2@y"},
      [](const Tensors& x) {
        return transpose(x[0], {1, 0});
      },
      "");
}

TEST(ShapeLedger, G3_gathers_what_out_lets_it) {
  expect_ledger(
      "x2,y2",
      {"4@x,6@y,8"},
      [](const Tensors& x) {
        return reshape(x[0], {4, 3, 2, 8}, spec("4@x,3,2@y,8"));
      },
      "forward all_gather y 384; backward all_gather y 384");
}

TEST(ShapeLedger, E6_a_reduced_operand_is_broadcast_free) {
  expect_ledger(
      "x2",
      {"8{R:x}"},
      [](const Tensors& x) {
        return broadcast_to(x[0], {2, 8}, spec("2@x,8"));
      },
      "");
  expect_ledger(
      "x2",
      {"8"},
      [](const Tensors& x) {
        return broadcast_to(x[0], {2, 8}, spec("2@x,8"));
      },
      "backward all_reduce x 64");
}

TEST(ShapeLedger, H2_a_padded_split_dim_is_gathered) {
  expect_ledger(
      "x2",
      {"8@x"},
      [](const Tensors& x) {
        return pad(x[0], 0, {2, 2});
      },
      "forward all_gather x 32; backward all_gather x 48");
}

TEST(ShapeLedger, H5_to_H7_lookups_move_what_out_asks) {
  expect_ledger(
      "x2",
      {"64@x,16", {"i64[8,4]", 16}},
      [](const Tensors& x) { return take(x[0], x[1], 1); },
      "");
  expect_ledger(
      "x2",
      {"64,16@x", {"i64[8@x,4]", 64}},
      [](const Tensors& x) { return take(x[0], x[1], 0, spec("8@x,4,16")); },
      "forward all_gather x 4096; backward reduce_scatter x 4096");
  expect_ledger(
      "x2",
      {"64,16{R:x}", {"i64[8@x,4]", 64}},
      [](const Tensors& x) { return take(x[0], x[1], 0, spec("8@x,4,16")); },
      "");
}

TEST(ShapeLedger, I6_segment_sums_stay_unreduced) {
  expect_ledger(
      "x4",
      {"8@x", {"i64[8@x]", 4}},
      [](const Tensors& x) { return segment_sum(x[0], x[1], 4, spec("4{U:x}")); },
      "");
  expect_ledger(
      "x4",
      {"8@x", {"i64[8@x]", 4}},
      [](const Tensors& x) { return segment_sum(x[0], x[1], 4, spec("4")); },
      "forward all_reduce x 96");
}

}  // namespace
}  // namespace brigade::tensor
