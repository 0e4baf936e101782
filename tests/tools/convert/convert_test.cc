// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/convert.h"

#include <filesystem>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/hugging_face_folder.h"
#include "trainer/checkpoint/safetensors_writer.h"

namespace brigade::convert {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Names = std::set<std::string>;

std::string data(const std::string& folder) {
  return std::string(BRIGADE_TEST_DATA) + "/" + folder;
}

Names names_in(const fs::path& folder) {
  Names names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename());
  }
  return names;
}

struct Said {
  int code = 0;
  std::string out;
  std::string err;
};

class Convert : public ::testing::Test {
 protected:
  Said run(const std::string& from, const std::string& to, std::vector<std::string> more = {}) {
    std::vector<std::string> line = {"brigade", "convert", "--from=" + from, "--to=" + to};
    line.insert(line.end(), more.begin(), more.end());
    std::ostringstream out;
    std::ostringstream err;
    const int code = convert(line, out, err);
    return {code, out.str(), err.str()};
  }

  void expect_done(const Said& said) { EXPECT_EQ(said.code, 0) << said.err; }

  /// A copy of a case that can be damaged.
  std::string copy(const char* name) {
    const std::string target = folder_ / "copy";
    fs::remove_all(target);
    fs::create_directories(target);
    for (const char* file : {"config.json", "model.safetensors"}) {
      write_file(target + "/" + file, contents(data(name) + "/" + file));
    }
    return target;
  }

  void change_config(const std::string& folder, const nlohmann::json& changes) {
    auto config = nlohmann::json::parse(contents(folder + "/config.json"));
    config.update(changes);
    write_file(folder + "/config.json", config.dump());
  }

  TemporaryFolder folder_;
};

TEST_F(Convert, BringsEveryCaseToUsAndBackWithTheSameBytes) {
  for (const char* name : {"llama_tiny", "llama_tied_uneven", "gpt2_tiny"}) {
    SCOPED_TRACE(name);
    const std::string ours = folder_ / (std::string(name) + "/step-0");
    const std::string theirs = folder_ / (std::string(name) + "/hf");
    expect_done(run(data(name), ours));
    expect_done(run(ours, theirs));
    EXPECT_EQ(contents(theirs + "/model.safetensors"), contents(data(name) + "/model.safetensors"));
    const auto before = value_or_throw(checkpoint::HuggingFaceFolder::open(data(name)));
    const auto after = value_or_throw(checkpoint::HuggingFaceFolder::open(theirs));
    EXPECT_EQ(after->config().model, before->config().model);
    EXPECT_EQ(after->config().max_positions, before->config().max_positions);
    EXPECT_EQ(names_in(folder_ / name), (Names{"hf", "step-0"}));
  }
}

TEST_F(Convert, MakesACheckpointOfTheModelAloneBeforeAnyStep) {
  const Said said = run(data("llama_tied_uneven"), folder_ / "step-0");
  expect_done(said);
  EXPECT_THAT(said.out,
              AllOf(HasSubstr("65 tensors, "),
                    HasSubstr("in 1 file"),
                    HasSubstr("checkpoint.initial_load_path")));
  EXPECT_EQ(names_in(folder_ / "step-0"), (Names{"manifest.json", "rank-00000.safetensors"}));
  const auto saved = value_or_throw(checkpoint::Checkpoint::open(folder_ / "step-0"));
  EXPECT_THAT(saved->verify(), IsEmpty());
  EXPECT_TRUE(saved->manifest().model_only);
  EXPECT_EQ(saved->manifest().counters, checkpoint::Counters());
  EXPECT_EQ(saved->manifest().recipe.at("model.dim"), "32");
  EXPECT_EQ(saved->tensors().count("lm_head.weight"), 0U);
}

TEST_F(Convert, WritesTheTypeAskedFor) {
  expect_done(run(data("gpt2_tiny"), folder_ / "half", {"--dtype=bfloat16", "--format=hf"}));
  expect_done(run(folder_ / "half", folder_ / "step-0"));
  const auto saved = value_or_throw(checkpoint::Checkpoint::open(folder_ / "step-0"));
  EXPECT_EQ(saved->tensors().at("transformer.wte.weight").type, checkpoint::ElementType::kBF16);
  EXPECT_EQ(saved->tensors().at("transformer.h.0.attn.c_attn.weight").shape,
            (sharding::Shape{24, 3, 24}));
  expect_done(run(folder_ / "step-0", folder_ / "again"));
  EXPECT_EQ(contents(folder_ / "again/model.safetensors"),
            contents(folder_ / "half/model.safetensors"));
}

TEST_F(Convert, SplitsAboveALimitAndJoinsAgain) {
  expect_done(run(data("llama_tiny"), folder_ / "split", {"--format=hf", "--shard-limit=20000"}));
  EXPECT_GT(names_in(folder_ / "split").size(), 4U);
  expect_done(run(folder_ / "split", folder_ / "whole", {"--format=hf"}));
  EXPECT_EQ(contents(folder_ / "whole/model.safetensors"),
            contents(data("llama_tiny") + "/model.safetensors"));
}

TEST_F(Convert, ReplacesATargetOnlyWhenAsked) {
  for (const std::string& target : {folder_ / "step-0", folder_ / "hf"}) {
    const std::string from = target == folder_ / "hf" ? folder_ / "step-0" : data("llama_tiny");
    expect_done(run(from, target));
    const Said said = run(from, target);
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, AllOf(HasSubstr("is there already"), HasSubstr("--overwrite")));
    expect_done(run(from, target, {"--overwrite"}));
  }
  write_file(folder_ / "step-0/notes.txt", "mine");
  const Said said = run(data("llama_tiny"), folder_ / "step-0", {"--overwrite"});
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, HasSubstr("holds notes.txt, which is no part of a checkpoint"));
  EXPECT_EQ(contents(folder_ / "step-0/notes.txt"), "mine");
}

TEST_F(Convert, ListsParametersThatAreMissingOrUnexpected) {
  const std::string from = copy("llama_tiny");
  change_config(from, {{"num_hidden_layers", 5}});
  Said said = run(from, folder_ / "step-0");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("missing parameters: 9 (model.layers.4."));
  change_config(from, {{"num_hidden_layers", 2}});
  said = run(from, folder_ / "step-0");
  EXPECT_THAT(
      said.err,
      AllOf(HasSubstr("unexpected parameters: 18 (model.layers.2."), HasSubstr(", and 8 more)")));
  change_config(from, {{"num_hidden_layers", 4}, {"intermediate_size", 65}});
  said = run(from, folder_ / "step-0");
  EXPECT_THAT(
      said.err,
      HasSubstr("other shapes: 12 (model.layers.0.mlp.down_proj.weight [32, 64] for [32, 65]"));
  EXPECT_EQ(names_in(folder_.path()), Names{"copy"});
}

TEST_F(Convert, TellsWhatItDoesNotFollow) {
  const std::string from = copy("gpt2_tiny");
  change_config(from, {{"attn_pdrop", 0.1}});
  EXPECT_THAT(run(from, folder_ / "step-0").out,
              HasSubstr("note: attn_pdrop = 0.1 is not followed"));
}

TEST_F(Convert, SaysWhereAPathIsNeitherKind) {
  fs::create_directories(folder_ / "empty");
  const Said said = run(folder_ / "empty", folder_ / "out");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr(folder_ / "empty"));
  EXPECT_EQ(names_in(folder_.path()), Names{"empty"});
}

TEST_F(Convert, ShowsItsFlags) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(convert({"brigade", "convert", "--help"}, out, err), 0);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("usage: brigade convert"), HasSubstr("--shard-limit=")));
  EXPECT_EQ(convert({"brigade", "convert", "--from=a"}, out, err), 2);
  EXPECT_THAT(err.str(), HasSubstr("--to=PATH is missing"));
}

}  // namespace
}  // namespace brigade::convert
