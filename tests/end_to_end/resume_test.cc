// SPDX-License-Identifier: Apache-2.0
/// A run that is interrupted and gone on with is the run that was not: bit for bit where it was, to
/// law 1's tolerance on any other mesh.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/philox.h"
#include "parallel/base/text.h"
#include "tests/end_to_end/checkpointed.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/hugging_face_folder.h"

namespace brigade::end_to_end {
namespace {

constexpr int64_t kSequence = 16;

struct Model {
  const char* name;
  const char* recipe;
  Settings settings;
  int64_t vocabulary;
};

const Model kLlama = {"llama", testing::kSmallRecipe, {}, 96};
const Model kGpt2 = {"gpt2", kGpt2Recipe, {"model.dropout=0.1"}, 101};
/// Neither its layers nor its vocabulary divide.
const Model kOddLlama = {"odd llama",
                         testing::kSmallRecipe,
                         {"model.n_layers=7", "model.ffn_dim=70", "model.vocab_size=97"},
                         97};

/// AdamW that moves nothing.
const Settings kStill = {"optimizer.name=AdamW", "optimizer.lr=0.0"};

Trial trial_of(const Model& model,
               const Degrees& degrees,
               const Settings& settings,
               const Settings& optimizer = kAdamWRecipe.settings) {
  Trial trial = end_to_end::trial_of(degrees, model.settings + optimizer + settings);
  trial.recipe = model.recipe;
  return trial;
}

std::shared_ptr<const data::TokenSource> tokens_of(const Model& model) {
  return random_tokens(model.vocabulary, kSequence, 200);
}

std::vector<double> losses_of(const Outcome& outcome, int64_t from, int64_t to) {
  const std::vector<double> all = outcome.losses();
  return {all.begin() + from, all.begin() + to};
}

std::string subfolder(const TemporaryFolder& folder, const std::string& name) {
  return folder / name;
}

const Settings kInBackground = {"checkpoint.async_mode=async"};

class SameMesh : public ::testing::TestWithParam<int> {};  // ZeRO stage
INSTANTIATE_TEST_SUITE_P(Stages, SameMesh, ::testing::Range(0, 4));

// R023, R027, R029: weights, masters, moments, data and dropout of every step go on as if nothing
// had happened; batches are a function of one counter, so there is none that was fetched and lost.
TEST_P(SameMesh, R023GoesOnBitForBit) {
  const Degrees mesh = {.shard = 2, .pp = 2};
  int64_t number = 0;
  const TemporaryFolder folder;
  for (const Model& model : {kLlama, kGpt2}) {
    for (const char* dtype : {"float32", "bfloat16"}) {
      for (const char* schedule : {"GPipe", "1F1B"}) {
        const Settings settings = {concat("parallelism.zero_stage=", GetParam()),
                                   concat("training.mixed_precision_param=", dtype),
                                   concat("parallelism.pipeline_parallel_schedule=", schedule)};
        const Outcome straight = train(trial_of(model, mesh, settings), tokens_of(model), 10);
        for (const Settings& how : {Settings(), kInBackground}) {
          SCOPED_TRACE(concat(model.name, ' ', dtype, ' ', schedule, ' ', join(how)));
          const std::string run = subfolder(folder, concat(number++));
          const Trial trial = trial_of(model, mesh, settings + how);
          const Outcome first = leg(trial, tokens_of(model), run, 0, 5);
          const Outcome second = leg(trial, tokens_of(model), run, 5, 10);
          expect_same_bits(second, after(straight, 5));
          EXPECT_EQ(first.losses(), losses_of(straight, 0, 5));
        }
      }
    }
  }
}

TEST(Resume, R027GoesOnTwiceInOneEpoch) {
  const TemporaryFolder folder;
  const Trial trial = trial_of(kLlama, {.shard = 2}, {});
  const Outcome straight = train(trial, tokens_of(kLlama), 8);
  const std::string run = subfolder(folder, "run");
  leg(trial, tokens_of(kLlama), run, 0, 3);
  const Outcome second = leg(trial, tokens_of(kLlama), run, 3, 5);
  const Outcome third = leg(trial, tokens_of(kLlama), run, 5, 8);
  EXPECT_EQ(second.losses(), losses_of(straight, 3, 5));
  expect_same_bits(third, after(straight, 5));
}

// R036: what is saved in the background is of the step at which it was asked for.
TEST(Resume, R036SavesInTheBackgroundWhileStepsGoOn) {
  const TemporaryFolder folder;
  const Trial trial =
      trial_of(kLlama, {.shard = 2, .pp = 2}, kInBackground + Settings{"checkpoint.interval=1"});
  const std::string run = subfolder(folder, "run");
  const Outcome whole = leg(trial, tokens_of(kLlama), run, 0, 6);
  for (int64_t step = 1; step < 6; ++step) {
    Trial from = trial_of(kLlama,
                          {.shard = 2, .pp = 2},
                          {concat("checkpoint.load_step=", step), "checkpoint.load_only=true"});
    expect_same_bits(leg(from, tokens_of(kLlama), run, step, 6), after(whole, step));
  }
}

const std::array<Degrees, 10> kMeshes = {{{},
                                          {.shard = 2},
                                          {.shard = 3},
                                          {.shard = 4},
                                          {.tp = 2},
                                          {.pp = 2},
                                          {.shard = 2, .tp = 2},
                                          {.shard = 2, .pp = 2},
                                          {.tp = 2, .pp = 2},
                                          {.shard = 2, .tp = 2, .pp = 2}}};

/// The same for the same pair, another for another.
std::string stage_for(size_t from, size_t to, uint64_t which) {
  const auto random = philox(which, 1000 * from + to, 0, random_stream("test", "stages"));
  return concat("parallelism.zero_stage=", random[0] % 4);
}

class FromMesh : public ::testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(All,
                         FromMesh,
                         ::testing::Range(size_t{0}, kMeshes.size()),
                         [](const auto& mesh) { return kMeshes[mesh.param].name(); });

// R030, R032: any mesh reads what any mesh wrote.
TEST_P(FromMesh, R030GoesOnOnEveryOther) {
  const TemporaryFolder folder;
  const auto source = tokens_of(kOddLlama);
  const Outcome straight = train(trial_of(kOddLlama, {}, {}), source, 10);
  const std::string run = subfolder(folder, "run");
  leg(trial_of(kOddLlama, kMeshes[GetParam()], {stage_for(GetParam(), 99, 1)}), source, run, 0, 5);
  for (size_t to = 0; to < kMeshes.size(); ++to) {
    if (to == GetParam()) {
      continue;
    }
    const std::string stage = stage_for(GetParam(), to, 2);
    SCOPED_TRACE(concat(kMeshes[to].name(), ' ', stage));
    const Outcome rest = leg(
        trial_of(kOddLlama, kMeshes[to], {stage, "checkpoint.load_only=true"}), source, run, 5, 10);
    expect_same_curve(rest, after(straight, 5), {.parameters = kAdamWRecipe.parameters});
  }
}

const std::vector<Degrees> kPromised = {
    {}, {.shard = 2}, {.shard = 4}, {.replicate = 2}, {.pp = 2}, {.shard = 2, .pp = 2}};

// Law 1's equal bits hold across an interruption, too.
TEST(Resume, OnAnotherMeshOfThePromisedOnesIsBitForBit) {
  const TemporaryFolder folder;
  const auto source = tokens_of(kLlama);
  const Settings exact = {"debug.deterministic=true", "training.global_batch_size=8"};
  const Outcome straight = train(trial_of(kLlama, {}, exact), source, 6);
  for (size_t from = 0; from < kPromised.size(); ++from) {
    const std::string run = subfolder(folder, concat(from));
    leg(trial_of(kLlama, kPromised[from], exact + Settings{stage_for(from, 77, 3)}),
        source,
        run,
        0,
        3);
    for (size_t to = 0; to < kPromised.size(); ++to) {
      const Settings stage = {stage_for(from, to, 4), "checkpoint.load_only=true"};
      SCOPED_TRACE(concat(kPromised[from].name(), " to ", kPromised[to].name(), ' ', stage[0]));
      expect_same_bits(leg(trial_of(kLlama, kPromised[to], exact + stage), source, run, 3, 6),
                       after(straight, 3));
    }
  }
}

// Old mesh, new mesh, old mesh, without a step: the same bits (R030's round trip).
TEST(Resume, R030MovingThereAndBackChangesNothing) {
  const TemporaryFolder folder;
  const auto source = tokens_of(kOddLlama);
  const Degrees home = {.shard = 2, .tp = 2};
  const std::string run = subfolder(folder, "run");
  const Outcome before = leg(trial_of(kOddLlama, home, {}), source, run, 0, 2);
  const Outcome alone = leg(trial_of(kOddLlama, {}, {}, kStill), source, run, 2, 3);
  const Outcome back = leg(trial_of(kOddLlama, home, {}, kStill), source, run, 3, 4);
  for (const auto& [name, value] : before.parameters) {
    EXPECT_TRUE(alone.parameters.at(name).equal(value)) << name;
    EXPECT_TRUE(back.parameters.at(name).equal(value)) << name;
  }
}

TEST(Resume, TheLastCheckpointMayBeOfTheModelAloneNarrowAndForHuggingFace) {
  const TemporaryFolder folder;
  const auto source = tokens_of(kLlama);
  const std::string run = subfolder(folder, "run");
  const Settings last = {"training.steps=3",
                         "checkpoint.interval=2",
                         "checkpoint.last_save_model_only=true",
                         "checkpoint.last_save_in_hf=true",
                         "checkpoint.export_dtype=bfloat16"};
  const Outcome trained = leg(trial_of(kLlama, {.shard = 2, .pp = 2}, last), source, run, 0, 3);
  const auto whole = value_or_throw(checkpoint::Checkpoint::open(run + "/checkpoint/step-2"));
  EXPECT_FALSE(whole->manifest().model_only);
  const auto alone = value_or_throw(checkpoint::Checkpoint::open(run + "/checkpoint/step-3"));
  EXPECT_TRUE(alone->manifest().model_only);
  const auto theirs =
      value_or_throw(checkpoint::HuggingFaceFolder::open(run + "/checkpoint/step-3-hf"));
  for (checkpoint::TensorSource* saved : {static_cast<checkpoint::TensorSource*>(alone.get()),
                                          static_cast<checkpoint::TensorSource*>(theirs.get())}) {
    EXPECT_EQ(saved->tensors().size(), trained.parameters.size());
    const at::Tensor& norm = trained.parameters.at("model.norm.weight");
    at::Tensor read = at::empty_like(norm);
    EXPECT_EQ(saved->tensors().at("model.norm.weight").type, checkpoint::ElementType::kBF16);
    value_or_throw(read_float32(*saved,
                                "model.norm.weight",
                                {{{0, norm.numel()}}},
                                {read.data_ptr<float>(), static_cast<size_t>(norm.numel())}));
    EXPECT_TRUE(read.equal(norm.to(at::kBFloat16).to(at::kFloat)));
  }
  const Settings more = {"training.steps=4"};
  try {
    leg(trial_of(kLlama, {}, more), source, run, 3, 4);
    FAIL() << "went on without moments";
  } catch (const Exception& refused) {
    EXPECT_NE(refused.error().text.find("exclude_from_loading"), std::string::npos);
  }
}

// A run in bf16 keeps fp32 masters, so it may go on in fp32 and the other way round.
TEST(Resume, TakesStatesOfAnotherPrecision) {
  const TemporaryFolder folder;
  const auto source = tokens_of(kLlama);
  const Settings bf16 = {"training.mixed_precision_param=bfloat16"};
  const std::string run = subfolder(folder, "run");
  const Outcome narrow = leg(trial_of(kLlama, {.shard = 2}, bf16), source, run, 0, 4);
  const Outcome still = leg(trial_of(kLlama, {.shard = 3}, {}, kStill), source, run, 4, 5);
  for (const auto& [name, value] : narrow.parameters) {
    EXPECT_TRUE(still.parameters.at(name).equal(value)) << name;
  }
  const Outcome wide = train(trial_of(kLlama, {}, {}), source, 5);
  EXPECT_NEAR(still.losses().back(), wide.losses().back(), 0.02);
}

}  // namespace
}  // namespace brigade::end_to_end
