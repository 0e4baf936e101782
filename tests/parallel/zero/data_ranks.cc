// SPDX-License-Identifier: Apache-2.0
#include "tests/parallel/zero/data_ranks.h"

#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/base/binary_tree.h"
#include "parallel/base/philox.h"
#include "parallel/base/text.h"
#include "tests/support/rank_threads.h"

namespace brigade::zero {

using sharding::Initializer;
using sharding::ParameterFacts;

std::string Layout::to_string() const {
  return concat("replicate ", replicate, " x shard ", shard, " x tp ", tp);
}

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {{},
                                          {.shard = 2},
                                          {.shard = 3},
                                          {.shard = 4},
                                          {.replicate = 2},
                                          {.replicate = 3},
                                          {.replicate = 2, .shard = 2},
                                          {.tp = 2},
                                          {.shard = 2, .tp = 2},
                                          {.replicate = 2, .shard = 2, .tp = 2}};
  return all;
}

void on_layout(const Layout& layout, const std::function<void(tensor::Program&)>& body) {
  const mesh::Mesh mesh = value_or_throw(mesh::Mesh::create(
      {{"dp_replicate", layout.replicate}, {"dp_shard", layout.shard}, {"tp", layout.tp}}));
  testing::run_ranks(mesh.size(), [&](collective::World& world) {
    at::set_num_threads(1);
    tensor::Program program(
        mesh, world.rank(), [&](const std::vector<int64_t>& members, const std::string& name) {
          return world.group(members, name);
        });
    body(program);
  });
}

std::vector<ParameterFacts> model_facts() {
  const Initializer normal{Initializer::Kind::kNormal, 0.5};
  const Initializer ones{Initializer::Kind::kOnes, 0.0};
  return {{"embed", {11, 3}, {"vocab", "embed"}, normal, true, "", "embedding"},
          {"up", {7, 5}, {"mlp", "embed"}, normal, true, "", "block.0"},
          {"norm", {5}, {"norm"}, ones, false, "", "block.0"},
          {"down", {5, 7}, {"embed", "mlp"}, normal, true, "", "block.0"},
          {"scale", {}, {}, normal, false, "", "block.0"}};
}

std::vector<ParameterFacts> tied_facts() {
  std::vector<ParameterFacts> facts = model_facts();
  ParameterFacts head = facts[0];
  head.name = "head";
  head.tied_to = "embed";
  head.unit = "head";
  facts.push_back(head);
  return facts;
}

Options options_of(int stage) {
  return {.stage = stage,
          .rules = {{"vocab", {"tp"}}, {"mlp", {"tp"}}},
          .data = {{"dp_replicate"}, {"dp_shard"}},
          .accumulation = GradientSum::Order::kTree,
          .dtype = DType::kFloat32};
}

std::unique_ptr<ParameterSet> make_set(tensor::Program& program,
                                       int stage,
                                       std::vector<ParameterFacts> facts) {
  return value_or_throw(ParameterSet::create(program, std::move(facts), options_of(stage)));
}

std::unique_ptr<ParameterSet> make_set_with_parts(tensor::Program& program, int stage) {
  Options options = options_of(stage);
  options.parts = {{"norm", {"tp"}}};
  return value_or_throw(ParameterSet::create(program, model_facts(), std::move(options)));
}

at::Tensor microbatch_gradient(const ParameterFacts& facts, int64_t microbatch) {
  const auto stream = static_cast<double>(random_stream("gradient", facts.name) % 1000);
  const int64_t count = sharding::element_count(facts.shape);
  const at::Tensor index =
      at::arange(count, at::kFloat) + static_cast<double>(microbatch * count) + stream;
  return (at::sin(index * 1.3) * at::exp2(at::remainder(index * 5, 17) - 8)).view(facts.shape);
}

at::Tensor serial_gradient(const ParameterFacts& facts, int64_t microbatches) {
  return tree_sum(
      0,
      microbatches,
      [&](int64_t microbatch) { return microbatch_gradient(facts, microbatch); },
      [](const at::Tensor& a, const at::Tensor& b) { return a + b; });
}

at::Tensor used_box(tensor::Program& program,
                    const ParameterSet& set,
                    const ParameterFacts& facts,
                    const at::Tensor& whole) {
  return part_of(whole, set.placement(facts.name).used.box(facts.shape, program.rank()));
}

at::Tensor part_of(const at::Tensor& whole, const sharding::Box& box) {
  at::Tensor piece = whole;
  for (size_t dim = 0; dim < box.dims.size(); ++dim) {
    piece = piece.narrow(static_cast<int64_t>(dim), box.dims[dim].begin, box.dims[dim].size());
  }
  return piece.contiguous();
}

at::Tensor updated_rows(tensor::Program& program,
                        const ParameterSet& set,
                        const ParameterFacts& facts,
                        int stage,
                        const at::Tensor& box) {
  const at::Tensor rows = box.dim() == 0 ? box.view({1}) : box;
  if (stage == 0) {
    return rows;
  }
  const int64_t member = program.mesh().coordinate(program.rank(), "dp_shard");
  const sharding::Interval mine =
      set.placement(facts.name).shard_rows(facts.shape, program.rank(), member);
  return rows.narrow(0, mine.begin, mine.size());
}

at::Tensor used_weight(ParameterSet& set, const std::string& name) {
  unshard_all(set);
  const at::Tensor weight = set.weight(name).local().detach().clone();
  reshard_all(set);
  return weight;
}

void unshard_all(ParameterSet& set) {
  for (size_t unit = 0; unit < set.units(); ++unit) {
    value_or_throw(set.wait_whole(unit));
  }
}

void reshard_all(ParameterSet& set) {
  for (size_t unit = 0; unit < set.units(); ++unit) {
    set.reshard(unit);
  }
}

void run_microbatches(tensor::Program& program,
                      ParameterSet& set,
                      int64_t each,
                      const std::function<bool(const ParameterFacts&)>& is_used,
                      const std::function<void()>& after_each) {
  const std::vector<std::string> data_axes = {"dp_replicate", "dp_shard"};
  const int64_t data_rank = program.mesh().flattened_index(program.rank(), data_axes);
  for (int64_t i = 0; i < each; ++i) {
    unshard_all(set);
    at::Tensor loss = at::zeros({});
    for (const ParameterFacts& facts : set.facts()) {
      if (is_used(facts)) {
        const at::Tensor whole = microbatch_gradient(facts, data_rank * each + i);
        loss = loss + (set.weight(facts.name).local() * used_box(program, set, facts, whole)).sum();
      }
    }
    torch::autograd::backward({loss}, {});
    reshard_all(set);
    set.accumulate(i, each);
    after_each();
  }
}

}  // namespace brigade::zero
