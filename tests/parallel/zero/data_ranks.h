// SPDX-License-Identifier: Apache-2.0
/// A small model of every kind of parameter on ranks that are threads, with gradients that are
/// functions of (parameter, global microbatch): what a ParameterSet should make of them is known.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/tensor/program.h"
#include "parallel/zero/parameter_set.h"

namespace brigade::zero {

/// Degrees of the axes dp_replicate, dp_shard and tp.
struct Layout {
  int64_t replicate = 1;
  int64_t shard = 1;
  int64_t tp = 1;

  int64_t data_ranks() const { return replicate * shard; }
  std::string to_string() const;
};

/// Every kind of mesh that parameters meet.
const std::vector<Layout>& layouts();

/// Runs `body` on each rank of the layout.
void on_layout(const Layout& layout, const std::function<void(tensor::Program&)>& body);

/// Two units; dims that no degree divides; rows split, columns split, vector, scalar.
std::vector<sharding::ParameterFacts> model_facts();

/// The same with a head tied to the embedding, in a unit of its own.
std::vector<sharding::ParameterFacts> tied_facts();

/// vocab and mlp over tp; data axes as in Layout; tree order.
Options options_of(int stage);

std::unique_ptr<ParameterSet> make_set(tensor::Program& program,
                                       int stage,
                                       std::vector<sharding::ParameterFacts> facts = model_facts());

/// The same with the parameter of the logical axis "norm" used by parts over tp.
std::unique_ptr<ParameterSet> make_set_with_parts(tensor::Program& program, int stage);

/// The whole gradient of a parameter from one microbatch of the global batch.
at::Tensor microbatch_gradient(const sharding::ParameterFacts& facts, int64_t microbatch);
/// Their sum over [0, microbatches) along the fixed tree.
at::Tensor serial_gradient(const sharding::ParameterFacts& facts, int64_t microbatches);

/// This rank's used box of a whole tensor.
at::Tensor used_box(tensor::Program& program,
                    const ParameterSet& set,
                    const sharding::ParameterFacts& facts,
                    const at::Tensor& whole);

at::Tensor part_of(const at::Tensor& whole, const sharding::Box& box);

/// The rows of a used box that this rank updates.
at::Tensor updated_rows(tensor::Program& program,
                        const ParameterSet& set,
                        const sharding::ParameterFacts& facts,
                        int stage,
                        const at::Tensor& box);

/// The weight as forward uses it, gathered for this call alone if it is stored sharded. Collective.
at::Tensor used_weight(ParameterSet& set, const std::string& name);

/// Makes all units whole, or none.
void unshard_all(ParameterSet& set);
void reshard_all(ParameterSet& set);

/// Backward and accumulate() of this data rank's `each` microbatches, its share of the global ones;
/// parameters for which `is_used` is false take no part; `after_each` runs after each accumulate().
void run_microbatches(
    tensor::Program& program,
    ParameterSet& set,
    int64_t each,
    const std::function<bool(const sharding::ParameterFacts&)>& is_used =
        [](const auto&) { return true; },
    const std::function<void()>& after_each = [] {});

}  // namespace brigade::zero
