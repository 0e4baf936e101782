// SPDX-License-Identifier: Apache-2.0
/// The Llama cases end where another implementation ends, on every mesh that their heads allow.
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/truth_case.h"

namespace brigade::end_to_end {
namespace {

const TruthCase kLlamaTiny = {"llama_tiny", testing::kSmallRecipe, {"model.n_kv_heads=2"}, 96};
const TruthCase kLlamaTiedUneven = {"llama_tied_uneven",
                                    testing::kSmallRecipe,
                                    {"model.n_kv_heads=2",
                                     "model.n_layers=7",
                                     "model.ffn_dim=70",
                                     "model.vocab_size=97",
                                     "model.tie_embeddings=true"},
                                    97};

struct Layout {
  const char* name;
  Degrees degrees;
  Settings settings;
};

void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.name;
}

const Settings kSequenceParallel = {"parallelism.sequence_parallel=true"};

std::vector<Layout> llama_layouts() {
  return {{"one", {}, {}},
          {"one_m1", {}, {"training.microbatch_size=12"}},
          {"dp2", {.shard = 2}, {}},
          {"dp3", {.shard = 3}, {}},
          {"dp4_zero0", {.shard = 4}, {"parallelism.zero_stage=0"}},
          {"dp6", {.shard = 6}, {"training.microbatch_size=2"}},
          {"hsdp2x2", {.replicate = 2, .shard = 2}, {}},
          {"tp2", {.tp = 2}, {}},
          {"tp2_sequence", {.tp = 2}, kSequenceParallel},
          {"pp2", {.pp = 2}, {}},
          {"pp4_gpipe", {.pp = 4}, {"parallelism.pipeline_parallel_schedule=GPipe"}},
          {"dp2_tp2", {.shard = 2, .tp = 2}, {}},
          {"dp2_pp2", {.shard = 2, .pp = 2}, {}},
          {"tp2_pp2", {.tp = 2, .pp = 2}, {}},
          {"dp2_tp2_pp2", {.shard = 2, .tp = 2, .pp = 2}, {}},
          {"dp2_tp2_pp2_sequence", {.shard = 2, .tp = 2, .pp = 2}, kSequenceParallel}};
}

using Parameters = std::tuple<const TruthCase*, const TruthRecipe*, Layout>;

std::string name_of(const ::testing::TestParamInfo<Parameters>& test) {
  const auto& [truth, recipe, layout] = test.param;
  return std::string(truth->folder) + "_" + recipe->name + "_" + layout.name;
}

class IndependentTruth : public ::testing::TestWithParam<Parameters> {};

TEST_P(IndependentTruth, IsReached) {
  const auto& [truth, recipe, layout] = GetParam();
  expect_truth(*truth, *recipe, layout.degrees, layout.settings);
}

INSTANTIATE_TEST_SUITE_P(Llama,
                         IndependentTruth,
                         ::testing::Combine(::testing::Values(&kLlamaTiny, &kLlamaTiedUneven),
                                            ::testing::Values(&kTruthSgd, &kTruthAdamW),
                                            ::testing::ValuesIn(llama_layouts())),
                         name_of);

}  // namespace
}  // namespace brigade::end_to_end
