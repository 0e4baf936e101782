// SPDX-License-Identifier: Apache-2.0
/// Hugging Face folders through the trainer: whatever the mesh, what comes out is what went in.
#include <fstream>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "parallel/base/text.h"
#include "tests/end_to_end/hugging_face_io.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/hugging_face_folder.h"

namespace brigade::end_to_end {
namespace {

/// Loads the folder on a mesh, takes a step that changes nothing, writes what there is then.
void pass_through(const std::string& from,
                  const Degrees& degrees,
                  const Settings& settings,
                  const std::string& to) {
  const auto source = value_or_throw(checkpoint::HuggingFaceFolder::open(from));
  const config::Model& model = source->config().model;
  Trial trial = trial_of(
      degrees,
      settings_of(model) + settings + Settings{"optimizer.lr=0.0", "optimizer.weight_decay=0.0"});
  trial.recipe = model.name == "gpt2" ? kGpt2Recipe : testing::kSmallRecipe;
  trial.prepare = [&](loop::Trainer& trainer, collective::World&) {
    load_hugging_face(trainer, from);
  };
  const Outcome outcome = train(trial, random_tokens(model.vocab_size, 16, 100), 1);
  write_hugging_face(outcome.parameters, source->config(), to);
}

/// A folder with a model of 4 heads, 4 key-value heads and a vocabulary of 97, from its seed.
void make_model(const std::string& folder) {
  checkpoint::HuggingFaceConfig config;
  config.model.dim = 32;
  config.model.n_layers = 3;
  config.model.n_heads = 4;
  config.model.n_kv_heads = 4;
  config.model.ffn_dim = 70;
  config.model.vocab_size = 97;
  const Outcome outcome =
      train(trial_of({}, settings_of(config.model)), random_tokens(97, 16, 100), 0);
  write_hugging_face(outcome.parameters, config, folder);
}

TEST(HuggingFace, R111_ExportsTheSameFilesWithoutPaddingFromEveryMesh) {
  const TemporaryFolder folder;
  make_model(folder / "model");
  const std::string weights = contents(folder / "model/model.safetensors");
  struct Case {
    Degrees degrees;
    Settings settings;
  };
  for (const Case& mesh : {Case{{}, {}},
                           Case{{.tp = 2}, {}},
                           Case{{.tp = 4}, {}},
                           Case{{.shard = 2, .tp = 2}, {"parallelism.zero_stage=3"}}}) {
    const std::string name = mesh.degrees.name();
    SCOPED_TRACE(name);
    pass_through(folder / "model", mesh.degrees, mesh.settings, folder / name);
    EXPECT_EQ(contents(folder / concat(name, "/model.safetensors")), weights);
    EXPECT_EQ(contents(folder / concat(name, "/config.json")),
              contents(folder / "model/config.json"));
    const auto source = value_or_throw(checkpoint::HuggingFaceFolder::open(folder / name));
    EXPECT_EQ(source->config().model.vocab_size, 97);
    for (const char* table : {"model.embed_tokens.weight", "lm_head.weight"}) {
      EXPECT_EQ(source->tensors().at(table).shape, (sharding::Shape{97, 32}));
    }
  }
}

struct Passed {
  const char* folder;
  Degrees degrees;
};

void PrintTo(const Passed& passed, std::ostream* out) {
  *out << passed.folder << ' ' << passed.degrees.name();
}

class HuggingFaceCases : public ::testing::TestWithParam<Passed> {};

TEST_P(HuggingFaceCases, R106_R108_ComeOutAsTheyWentIn) {
  const TemporaryFolder folder;
  const std::string from = concat(BRIGADE_TEST_DATA, "/", GetParam().folder);
  pass_through(from, GetParam().degrees, {}, folder / "out");
  EXPECT_EQ(contents(folder / "out/model.safetensors"),
            contents(concat(from, "/model.safetensors")));
}

INSTANTIATE_TEST_SUITE_P(Meshes,
                         HuggingFaceCases,
                         ::testing::Values(Passed{"llama_tiny", {.tp = 2}},
                                           Passed{"llama_tiny", {.shard = 2, .pp = 2}},
                                           Passed{"llama_tied_uneven", {.tp = 2, .pp = 2}},
                                           Passed{"llama_tied_uneven", {.shard = 3}},
                                           Passed{"gpt2_tiny", {.tp = 3}},
                                           Passed{"gpt2_tiny", {.shard = 2, .pp = 2}}));

}  // namespace
}  // namespace brigade::end_to_end
