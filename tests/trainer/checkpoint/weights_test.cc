// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/weights.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/sample_checkpoint.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/check_tensors.h"
#include "trainer/checkpoint/hugging_face_folder.h"

namespace brigade::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kTiny = std::string(BRIGADE_TEST_DATA) + "/llama_tiny";

std::string text_of(const Result<void>& done) {
  EXPECT_FALSE(done);
  return done ? "" : done.error().text;
}

/// A checkpoint of one tensor, whose recipe is a GPT-2's.
void write_sample(const std::string& folder) {
  std::filesystem::create_directories(folder);
  const std::vector<float> values = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F};
  const std::vector<StateBox> boxes = {
      {"w", ElementType::kF32, {3, 2}, {{{0, 3}, {0, 2}}}, std::as_bytes(std::span(values))}};
  const std::vector<Manifest> records = {
      value_or_throw(write_shard(folder, shard_name(0), 0, boxes))};
  Manifest head = sample_head(3);
  head.recipe = {{"model.name", "gpt2"},
                 {"model.dim", "24"},
                 {"model.n_heads", "3"},
                 {"model.n_positions", "48"},
                 {"training.seq_len", "16"},
                 {"training.steps", "10"}};
  value_or_throw(write_durably(folder + "/manifest.json",
                               to_json(value_or_throw(merge(std::move(head), records)))));
}

TEST(Weights, AreOfACheckpointAndTheModelOfItsRecipe) {
  const TemporaryFolder folder;
  write_sample(folder / "step-3");
  const Weights weights = value_or_throw(open_weights(folder / "step-3", false));
  EXPECT_EQ(weights.config.model.name, "gpt2");
  EXPECT_EQ(weights.config.model.dim, 24);
  EXPECT_EQ(weights.config.max_positions, 48);
  EXPECT_TRUE(weights.source->tensors().contains("w"));
}

TEST(Weights, AreOfAHuggingFaceFolder) {
  const Weights weights = value_or_throw(open_weights(kTiny, true));
  EXPECT_EQ(weights.config.model.dim, 32);
  EXPECT_TRUE(weights.source->tensors().contains("lm_head.weight"));
}

TEST(Weights, NameTheOtherKindWhereThePathIsOne) {
  const TemporaryFolder folder;
  write_sample(folder / "step-3");
  EXPECT_THAT(open_weights(folder / "step-3", true).error().text,
              AllOf(HasSubstr("is a checkpoint of Brigade's"),
                    HasSubstr("checkpoint.initial_load_in_hf = false")));
  EXPECT_THAT(open_weights(kTiny, false).error().text,
              AllOf(HasSubstr("is a Hugging Face folder"),
                    HasSubstr("checkpoint.initial_load_in_hf = true")));
  EXPECT_FALSE(open_weights(folder / "none", false));
  EXPECT_FALSE(open_weights(folder / "none", true));
}

TEST(Weights, AreComparedWithTheModelWanted) {
  const Weights weights = value_or_throw(open_weights(kTiny, true));
  config::Model wanted = weights.config.model;
  EXPECT_TRUE(check_model(weights, wanted));
  wanted.n_layers = 5;
  wanted.vocab_size = 97;
  const Result<void> done = check_model(weights, wanted);
  EXPECT_EQ(done.error().code, ErrorCode::kUsage);
  EXPECT_THAT(done.error().text,
              HasSubstr("is of another model than the recipe's: model.n_layers: 4 in the weights, "
                        "5 wanted; model.vocab_size: 96 in the weights, 97 wanted"));
}

sharding::ParameterFacts fact(const std::string& name,
                              const sharding::Shape& shape,
                              const std::string& tied_to = "") {
  sharding::ParameterFacts facts;
  facts.name = name;
  facts.shape = shape;
  facts.tied_to = tied_to;
  return facts;
}

TEST(Weights, ListAllThatIsMissingUnexpectedOrOfAnotherShape) {
  const TemporaryFolder folder;
  write_sample(folder / "step-3");
  const Weights weights = value_or_throw(open_weights(folder / "step-3", false));
  EXPECT_TRUE(
      check_parameters(*weights.source, std::vector{fact("w", {3, 2}), fact("head", {3, 2}, "w")}));
  EXPECT_THAT(text_of(check_parameters(*weights.source, std::vector{fact("w", {2, 3})})),
              HasSubstr("other shapes: 1 (w [3, 2] for [2, 3])"));
  std::vector<sharding::ParameterFacts> many;
  for (int i = 10; i < 22; ++i) {
    many.push_back(fact("p" + std::to_string(i), {1}));
  }
  EXPECT_THAT(text_of(check_parameters(*weights.source, many)),
              AllOf(HasSubstr("missing parameters: 12 (p10, p11"),
                    HasSubstr("p19, and 2 more); unexpected parameters: 1 (w)"),
                    Not(HasSubstr("p20"))));
}

TEST(Weights, KnowWhatIsAnOptimizers) {
  EXPECT_TRUE(is_optimizer_state("optimizer.state.w.exp_avg"));
  EXPECT_FALSE(is_optimizer_state("model.norm.weight"));
}

TEST(Weights, AreReadInPiecesAsStoredOrConverted) {
  const TemporaryFolder folder;
  write_sample(folder / "step-3");
  const Weights weights = value_or_throw(open_weights(folder / "step-3", false));
  const auto read = [&](ElementType type) {
    std::string bytes;
    value_or_throw(read_in_pieces(
        *weights.source, "w", type, [&](std::span<const std::byte> piece) -> Result<void> {
          bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());  // NOLINT
          return {};
        }));
    return bytes;
  };
  EXPECT_EQ(read(ElementType::kF32).size(), 24U);
  EXPECT_EQ(read(ElementType::kBF16),
            std::string("\x80\x3f\x00\x40\x40\x40\x80\x40\xa0\x40\xc0\x40", 12));
}

}  // namespace
}  // namespace brigade::checkpoint
