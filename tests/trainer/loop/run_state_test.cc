// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/run_state.h"

#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "tests/support/rank_threads.h"
#include "tests/trainer/loop/recipe.h"
#include "trainer/loop/trainer.h"

namespace brigade::loop {
namespace {

using checkpoint::SourceTensors;

using Settings = std::vector<std::string>;

/// How many elements of each tensor all ranks together write.
std::map<std::string, int64_t> written_elements(const Settings& settings, bool model_only) {
  const config::RunConfig config = recipe(settings);
  std::map<std::string, int64_t> elements;
  std::mutex mutex;
  testing::run_ranks(config::wanted_ranks(config), [&](collective::World& world) {
    const auto trainer = value_or_throw(Trainer::create(
        world, {.config = config, .training = counting_tokens(96, 50), .validation = nullptr}));
    const std::lock_guard<std::mutex> lock(mutex);
    for (const checkpoint::StateBox& box : trainer->boxes_to_write(model_only)) {
      EXPECT_EQ(box.bytes.size(), static_cast<size_t>(box.box.element_count()) * sizeof(float));
      elements[box.name] += box.box.element_count();
    }
  });
  return elements;
}

TEST(RunState, IsWrittenOnceByAllRanksTogether) {
  for (const Settings& mesh : {Settings{},
                               {"parallelism.data_parallel_replicate_degree=2"},
                               {"parallelism.data_parallel_shard_degree=2",
                                "parallelism.tensor_parallel_degree=2",
                                "parallelism.pipeline_parallel_degree=2"},
                               {"parallelism.data_parallel_shard_degree=4",
                                "parallelism.zero_stage=3",
                                "model.tie_embeddings=true"},
                               {"optimizer.name=SGD"}}) {
    for (const bool model_only : {false, true}) {
      const config::RunConfig config = recipe(mesh);
      std::map<std::string, int64_t> wanted;
      for (const auto& [name, tensor] : written_tensors(config, facts_of(config), model_only)) {
        wanted[name] = sharding::element_count(tensor.shape);
      }
      EXPECT_EQ(written_elements(mesh, model_only), wanted);
    }
  }
}

TEST(RunState, HasTorchsNamesForStates) {
  EXPECT_EQ(state_tensor_name("lm_head.weight", "exp_avg"),
            "optimizer.state.lm_head.weight.exp_avg");
  const config::RunConfig config = recipe();
  const SourceTensors tensors = written_tensors(config, facts_of(config), false);
  EXPECT_TRUE(tensors.contains("optimizer.state.model.norm.weight.exp_avg_sq"));
}

}  // namespace
}  // namespace brigade::loop
