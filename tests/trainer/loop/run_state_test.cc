// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/run_state.h"

#include <cstring>
#include <map>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/support/rank_threads.h"
#include "tests/trainer/loop/recipe.h"
#include "trainer/loop/trainer.h"

namespace brigade::loop {
namespace {

using checkpoint::ElementType;
using checkpoint::SourceTensors;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Settings = std::vector<std::string>;

/// Tensors without a disk.
class FakeSource final : public checkpoint::TensorSource {
 public:
  explicit FakeSource(SourceTensors tensors) : tensors_(std::move(tensors)) {}
  const std::string& path() const override { return path_; }
  const SourceTensors& tensors() const override { return tensors_; }
  Result<void> read(std::string_view, const sharding::Box&, std::span<std::byte>) override {
    return {};
  }
  uint64_t bytes_read() const override { return 0; }

 private:
  std::string path_ = "the source";
  SourceTensors tensors_;
};

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

TEST(CheckTensors, ListsWhatIsMissingUnexpectedAndOfAnotherShape) {
  const config::RunConfig config = recipe();
  const SourceTensors wanted = written_tensors(config, facts_of(config), true);
  EXPECT_TRUE(check_tensors(FakeSource(wanted), wanted));
  SourceTensors other = wanted;
  other.erase("lm_head.weight");
  other["extra"] = {ElementType::kF32, {1}};
  other["model.norm.weight"].shape = {33};
  other["optimizer.state.x.exp_avg"] = {ElementType::kF32, {1}};  // not minded
  const Result<void> checked = check_tensors(FakeSource(other), wanted);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kData);
  EXPECT_THAT(checked.error().text,
              AllOf(HasSubstr("the source"),
                    HasSubstr("1 missing: lm_head.weight"),
                    HasSubstr("1 unexpected: extra"),
                    HasSubstr("model.norm.weight is [33] there and [32] here"),
                    Not(HasSubstr("exp_avg"))));
}

TEST(CheckTensors, ListsTenAndSaysHowMany) {
  SourceTensors wanted;
  for (int i = 0; i < 12; ++i) {
    wanted[concat("tensor", i)] = {ElementType::kF32, {1}};
  }
  const Result<void> checked = check_tensors(FakeSource({}), wanted);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().text, AllOf(HasSubstr("12 missing"), HasSubstr(", ...")));
  EXPECT_THAT(checked.error().text, Not(HasSubstr("tensor9,")));
}

}  // namespace
}  // namespace brigade::loop
