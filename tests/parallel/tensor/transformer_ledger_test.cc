// SPDX-License-Identifier: Apache-2.0
// A transformer block with embedding and loss on four axes - data d, sharded weights f, tensor t,
// sequence s - written with ops alone: how many collectives its types ask for, and how many bytes.
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/tensor/casts.h"
#include "parallel/tensor/ledger.h"
#include "parallel/tensor/ops/cross_entropy.h"
#include "parallel/tensor/ops/einsum.h"
#include "parallel/tensor/ops/elementwise.h"
#include "parallel/tensor/ops/embedding.h"
#include "parallel/tensor/ops/reduce.h"
#include "parallel/tensor/ops/rms_norm.h"
#include "parallel/tensor/ops/silu_gate.h"
#include "parallel/tensor/ops/softmax.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using mesh::AxisNames;
using sharding::PartitionSpec;
using Dims = std::vector<PartitionSpec::Dim>;

// Sizes that every axis divides.
constexpr int64_t kBatch = 8;
constexpr int64_t kSequence = 8;
constexpr int64_t kDim = 16;
constexpr int64_t kHeads = 4;
constexpr int64_t kHeadSize = 4;
constexpr int64_t kFeedForward = 32;
constexpr int64_t kVocabulary = 24;
constexpr int64_t kFloat = 4;

struct Sizes {
  int64_t d, f, t, s;

  std::vector<mesh::Axis> axes() const { return {{"d", d}, {"f", f}, {"t", t}, {"s", s}}; }
  int64_t rows() const { return kBatch / (d * f) * (kSequence / s); }
};

/// A weight is stored over f on one dim and used whole over it, Reduced over all that splits data.
struct Weight {
  std::string name;
  std::vector<int64_t> shape;
  Dims stored;
  Dims used;
};

std::vector<Weight> weights() {
  const PartitionSpec::Dim f = {"f"};
  const PartitionSpec::Dim t = {"t"};
  return {{"embedding", {kVocabulary, kDim}, {t, f}, {t, {}}},
          {"norm1", {kDim}, {f}, {{}}},
          {"q", {kDim, kHeads, kHeadSize}, {f, t, {}}, {{}, t, {}}},
          {"k", {kDim, kHeads, kHeadSize}, {f, t, {}}, {{}, t, {}}},
          {"v", {kDim, kHeads, kHeadSize}, {f, t, {}}, {{}, t, {}}},
          {"o", {kHeads, kHeadSize, kDim}, {t, {}, f}, {t, {}, {}}},
          {"norm2", {kDim}, {f}, {{}}},
          {"gate", {kDim, kFeedForward}, {f, t}, {{}, t}},
          {"up", {kDim, kFeedForward}, {f, t}, {{}, t}},
          {"down", {kFeedForward, kDim}, {t, f}, {t, {}}},
          {"norm3", {kDim}, {f}, {{}}},
          {"head", {kDim, kVocabulary}, {f, t}, {{}, t}}};
}

class Block {
 public:
  explicit Block(Program& program) : program_(program) {
    for (const Weight& weight : weights()) {
      const PartitionSpec stored = PartitionSpec(weight.stored).with_reduced({"d", "s"});
      const ShardedTensor piece = place(program, numbers(weight.shape, 0.3) * 0.2, stored);
      leaves_.emplace(
          weight.name,
          ShardedTensor(
              program, piece.type(), piece.local().detach().clone().set_requires_grad(true)));
    }
  }

  ShardedTensor loss() const {
    const at::Tensor ids = at::remainder(at::arange(kBatch * kSequence, at::kLong) * 7, kVocabulary)
                               .view({kBatch, kSequence});
    ShardedTensor x =
        reshard(embedding(used("embedding"), distribute(program_, ids, kRows)), kRows, "embedding");
    x = x + attention(entered(x, "norm1"));
    x = x + feed_forward(entered(x, "norm2"));
    const ShardedTensor logits = einsum("bsd,dv->bsv", entered(x, "norm3"), used("head"));
    const std::array<int64_t, 2> rows = {0, 1};
    return sum(cross_entropy(logits, distribute(program_, ids, kRows)), rows);
  }

  const std::map<std::string, ShardedTensor>& leaves() const { return leaves_; }

 private:
  ShardedTensor used(const std::string& name) const {
    for (const Weight& weight : weights()) {
      if (weight.name == name) {
        return reshard(leaves_.at(name),
                       PartitionSpec(weight.used).with_reduced({"d", "f", "s"}),
                       "weight " + name);
      }
    }
    throw std::out_of_range(name);
  }

  ShardedTensor entered(const ShardedTensor& x, const std::string& norm) const {
    const ShardedTensor normed = rms_norm(x, used(norm), 1e-5);
    return reshard(normed, normed.type().spec.with_reduced({"t"}), "enter block");
  }

  ShardedTensor attention(const ShardedTensor& x) const {
    const PartitionSpec all_keys = PartitionSpec(Dims{{"d", "f"}, {}, {"t"}}).with_reduced({"s"});
    const ShardedTensor q = einsum("bsd,dhk->bshk", x, used("q"));
    const ShardedTensor k = reshard(einsum("bsd,dhk->bshk", x, used("k")), all_keys, "all keys");
    const ShardedTensor v = reshard(einsum("bsd,dhk->bshk", x, used("v")), all_keys, "all keys");
    const ShardedTensor p = softmax(einsum("bshk,bthk->bhst", q, k), 3);
    return einsum("bshk,hkd->bsd", einsum("bhst,bthk->bshk", p, v), used("o"), kRows);
  }

  ShardedTensor feed_forward(const ShardedTensor& x) const {
    const ShardedTensor gate = einsum("bsd,df->bsf", x, used("gate"));
    const ShardedTensor up = einsum("bsd,df->bsf", x, used("up"));
    return einsum("bsf,fd->bsd", silu_gate(gate, up), used("down"), kRows);
  }

  inline static const PartitionSpec kRows{Dims{{"d", "f"}, {"s"}}};
  Program& program_;
  std::map<std::string, ShardedTensor> leaves_;
};

/// What a group does in one direction.
struct Traffic {
  int64_t count = 0;
  int64_t bytes = 0;

  bool operator==(const Traffic&) const = default;
};
using Table = std::map<std::tuple<std::string, std::string, std::string>, Traffic>;

Table found_in(const Ledger& ledger) {
  Table table;
  for (const LedgerEntry& entry : ledger.entries()) {
    std::string axes;
    for (const std::string& axis : entry.axes) {
      axes += axis;
    }
    Traffic& traffic =
        table[{std::string(to_string(entry.pass)), std::string(collective_of(entry.cast)), axes}];
    traffic.count += 1;
    traffic.bytes += entry.group_bytes;
  }
  return table;
}

/// The counts of the types, in bytes of a group: gathers and scatters (n - 1) wholes, all-reduces
/// two (n - 1).
Table expected(const Sizes& n) {
  const int64_t activation = n.rows() * kDim * kFloat;
  const int64_t keys = kBatch / (n.d * n.f) * kSequence * (kHeads / n.t) * kHeadSize * kFloat;
  int64_t gathered = 0;
  for (const Weight& weight : weights()) {
    const bool split = weight.name.substr(0, 4) != "norm";
    gathered += c10::multiply_integers(weight.shape) / (split ? n.t : 1) * kFloat;
  }
  const auto count = static_cast<int64_t>(weights().size());
  Table table;
  if (n.f > 1) {
    table[{"forward", "all_gather", "f"}] = {count, (n.f - 1) * gathered};
    table[{"backward", "reduce_scatter", "f"}] = {count, (n.f - 1) * gathered};
  }
  if (n.t > 1) {
    // Embedding, two exits, the largest logit, then sum and target together.
    table[{"forward", "all_reduce", "t"}] = {
        5, 2 * (n.t - 1) * (3 * activation + 3 * n.rows() * kFloat)};
    // Two entries and the head's.
    table[{"backward", "all_reduce", "t"}] = {3, 2 * (n.t - 1) * 3 * activation};
  }
  if (n.s > 1) {
    table[{"forward", "all_gather", "s"}] = {2, 2 * (n.s - 1) * keys};
    table[{"backward", "reduce_scatter", "s"}] = {2, 2 * (n.s - 1) * keys};
  }
  table[{"forward", "all_reduce", "dfs"}] = {1, 2 * (n.d * n.f * n.s - 1) * kFloat};
  return table;
}

std::string text_of(const Table& table) {
  std::string text;
  for (const auto& [key, traffic] : table) {
    const auto& [pass, op, axes] = key;
    text += pass + " " + op + " " + axes + ": " + std::to_string(traffic.count) + ", " +
            std::to_string(traffic.bytes) + " bytes\n";
  }
  return text;
}

struct Outcome {
  double loss = 0.0;
  std::map<std::string, at::Tensor> gradients;
};

Outcome train_once(Program& program) {
  const Block block(program);
  program.ledger().clear();
  const ShardedTensor loss = block.loss();
  torch::autograd::backward({loss.local()}, {at::ones({})});
  const Ledger ledger = program.ledger();
  Outcome outcome{loss.local().item<double>(), {}};
  for (const auto& [name, leaf] : block.leaves()) {
    EXPECT_EQ(leaf.gradient().type(), dual(leaf.type())) << name;
    outcome.gradients[name] = collect(leaf.gradient());
  }
  program.ledger() = ledger;
  return outcome;
}

class TransformerLedger : public ::testing::TestWithParam<Sizes> {};

TEST_P(TransformerLedger, HoldsTheCountsAndBytesOfTheTypesAndTheValuesOfOneRank) {
  Outcome wanted;
  on_mesh(Sizes{1, 1, 1, 1}.axes(), [&](Program& program) { wanted = train_once(program); });
  on_mesh(GetParam().axes(), [&](Program& program) {
    const Outcome found = train_once(program);
    EXPECT_EQ(text_of(found_in(program.ledger())), text_of(expected(GetParam())));
    EXPECT_NEAR(found.loss, wanted.loss, 1e-5 * wanted.loss);
    for (const auto& [name, gradient] : found.gradients) {
      EXPECT_TRUE(at::allclose(gradient, wanted.gradients.at(name), 1e-4, 1e-5)) << name;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    Meshes,
    TransformerLedger,
    ::testing::Values(Sizes{8, 1, 1, 1}, Sizes{2, 2, 2, 1}, Sizes{1, 2, 2, 2}, Sizes{1, 1, 4, 2}),
    [](const auto& drawn) {
      const Sizes& n = drawn.param;
      return "d" + std::to_string(n.d) + "f" + std::to_string(n.f) + "t" + std::to_string(n.t) +
             "s" + std::to_string(n.s);
    });

}  // namespace
}  // namespace brigade::tensor
