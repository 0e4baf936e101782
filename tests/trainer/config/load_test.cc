// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/load.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Overrides = std::vector<std::string>;

/// The config of a recipe that has data already.
RunConfig loaded(const std::string& text, Overrides overrides = {}) {
  overrides.push_back("training.dataset=synthetic");
  Result<RunConfig> config = load_text(text, "r.toml", overrides);
  EXPECT_TRUE(config) << (config ? "" : config.error().text);
  return config.value_or(RunConfig());
}

/// What load() says about a recipe that is wrong.
std::string complaint(const std::string& text, const Overrides& overrides = {}) {
  const Result<RunConfig> config = load_text(text, "r.toml", overrides);
  EXPECT_FALSE(config) << "accepted: " << text;
  if (config) {
    return "";
  }
  EXPECT_EQ(config.error().code, ErrorCode::kUsage);
  return config.error().text;
}

TEST(Load, GivesTheDefaultsForAnEmptyRecipe) {
  RunConfig expected;
  expected.training.dataset = "synthetic";
  EXPECT_EQ(loaded(""), expected);
}

TEST(Load, ReadsEveryKindOfValue) {
  const RunConfig config = loaded(R"(
[job]
dump_folder = "out"
[optimizer]
lr = 3          # an integer passes for a number
[training]
steps = 1_000
[debug]
deterministic = true
[lr_scheduler]
decay_ratio = 0.8
)");
  EXPECT_EQ(config.job.dump_folder, "out");
  EXPECT_EQ(config.optimizer.lr, 3.0);
  EXPECT_EQ(config.training.steps, 1000);
  EXPECT_TRUE(config.debug.deterministic);
  EXPECT_EQ(config.lr_scheduler.decay_ratio, 0.8);
  EXPECT_FALSE(config.lr_scheduler.total_steps);
}

TEST(Load, PutsTheCommandLineOverTheFile) {
  const std::string recipe = "[training]\nsteps = 10\nseq_len = 64\n";
  const RunConfig config = loaded(recipe, {"training.steps=20"});
  EXPECT_EQ(config.training.steps, 20);
  EXPECT_EQ(config.training.seq_len, 64);
}

TEST(Load, UnderstandsEverySpellingOfAnOverride) {
  for (const Overrides& spelling : std::vector<Overrides>{{"training.seq_len=64"},
                                                          {"training.seq-len=64"},
                                                          {"--training.seq_len=64"},
                                                          {"--training.seq-len", "64"}}) {
    EXPECT_EQ(loaded("", spelling).training.seq_len, 64) << spelling.front();
  }
  for (const Overrides& spelling : std::vector<Overrides>{{"debug.deterministic=true"},
                                                          {"debug.deterministic=True"},
                                                          {"--debug.deterministic"},
                                                          {"--debug.deterministic", "true"}}) {
    EXPECT_TRUE(loaded("", spelling).debug.deterministic) << spelling.front();
  }
  EXPECT_FALSE(
      loaded("[debug]\ndeterministic = true\n", {"--debug.no_deterministic"}).debug.deterministic);
  EXPECT_FALSE(
      loaded("[debug]\ndeterministic = true\n", {"debug.deterministic=false"}).debug.deterministic);
}

TEST(Load, TakesBareAndQuotedStringsInOverrides) {
  EXPECT_EQ(loaded("", {"job.dump_folder=runs/one"}).job.dump_folder, "runs/one");
  EXPECT_EQ(loaded("", {"job.dump_folder=\"runs/a b\""}).job.dump_folder, "runs/a b");
  EXPECT_EQ(loaded("", {"job.description=2024"}).job.description, "2024");
  EXPECT_EQ(loaded("", {"job.description=a=b"}).job.description, "a=b");
}

TEST(Load, UnsetsAnOptionalKeyByAnEmptyOverride) {
  const std::string recipe = "[lr_scheduler]\ndecay_ratio = 0.5\n";
  EXPECT_FALSE(loaded(recipe, {"lr_scheduler.decay_ratio="}).lr_scheduler.decay_ratio);
}

TEST(Load, PutsModelKeysOverTheFlavor) {
  const RunConfig small = loaded("[model]\nflavor = \"small\"\n");
  EXPECT_EQ(small.model.dim, 384);
  EXPECT_EQ(small.model.n_layers, 6);
  EXPECT_EQ(small.model.n_heads, 6);
  EXPECT_EQ(small.model.ffn_dim, 1024);
  const RunConfig changed = loaded("[model]\nn_heads = 8\nflavor = \"tiny\"\nn_layers = 7\n");
  EXPECT_EQ(changed.model.dim, 128);
  EXPECT_EQ(changed.model.n_layers, 7);
  EXPECT_EQ(changed.model.n_heads, 8);
  EXPECT_EQ(changed.model.n_kv_heads, 8);  // follows n_heads when left out
  EXPECT_EQ(loaded("", {"model.n_kv_heads=4"}).model.n_heads, 16);
}

TEST(Load, GivesGpt2ItsOwnSizesAndKeys) {
  const RunConfig config = loaded(R"([model]
name = "gpt2"
flavor = "tiny"
n_heads = 8
dropout = 0.1
[training]
seq_len = 64
)");
  EXPECT_EQ(config.model.name, "gpt2");
  EXPECT_EQ(config.model.ffn_dim, 512);
  EXPECT_EQ(config.model.n_kv_heads, 8);
  EXPECT_EQ(config.model.n_positions, 1024);
  EXPECT_EQ(config.model.dropout, 0.1);
  EXPECT_TRUE(config.model.tie_embeddings);
}

TEST(Load, RefusesTheKeysOfAnotherFamily) {
  const std::string gpt2 = complaint("[model]\nname = \"gpt2\"\nrope_theta = 1e6\nn_kv_heads = 1\n",
                                     {"training.seq_len=64"});
  EXPECT_THAT(gpt2,
              HasSubstr("r.toml:3:1: `rope_theta` belongs to llama3; with model.name = \"gpt2\" "
                        "(r.toml:2:1) it must be left out"));
  EXPECT_THAT(gpt2, HasSubstr("r.toml:4:1: `n_kv_heads` belongs to llama3"));
  EXPECT_THAT(complaint("", {"model.dropout=0.1"}),
              HasSubstr("`dropout` belongs to gpt2; with model.name = \"llama3\" (default)"));
}

TEST(Load, RefusesASequenceLongerThanThePositionsOfGpt2) {
  const std::string text =
      complaint("[model]\nname = \"gpt2\"\nn_positions = 32\n[training]\nseq_len = 33\n");
  EXPECT_THAT(
      text,
      HasSubstr("r.toml:5:1: a sequence of 33 tokens is longer than model.n_positions = 32; "
                "set training.seq_len to at most 32, or n_positions to more"));
}

TEST(Load, R093ListsEveryBadKeyOfTheFileWithLineAndNearestName) {
  const std::string text = complaint(R"(lr = 0.1
[optimizer]
name = "SGD"
learning_rte = 1e-3
beta1 = 0.9
lr = 0.1
lr = 0.2
[optimiser]
eps = 1
[training]
dataset = "synthetic"
)");
  EXPECT_THAT(text, HasSubstr("5 problems in the configuration"));
  EXPECT_THAT(text,
              HasSubstr("r.toml:1:1: `lr` stands outside any table; it belongs to [optimizer]"));
  EXPECT_THAT(text,
              HasSubstr("r.toml:4:1: unknown key `learning_rte` in [optimizer]; "
                        "the nearest is `lr`"));
  EXPECT_THAT(text,
              HasSubstr("r.toml:5:1: `beta1` belongs to AdamW; with optimizer.name = \"SGD\" "
                        "(r.toml:3:1) it must be left out"));
  EXPECT_THAT(text, HasSubstr("r.toml:7:1: duplicate key `lr`; the first is on line 6"));
  EXPECT_THAT(text, HasSubstr("r.toml:8:2: unknown table [optimiser]; the nearest is [optimizer]"));
}

TEST(Load, R093SaysTheSameOfOverrides) {
  const std::string text = complaint("",
                                     {"training.dataset=synthetic",
                                      "optimizer.learning_rte=1",
                                      "lr=1",
                                      "optimiser.lr=1",
                                      "training.steps=5",
                                      "training.steps=6",
                                      "optimizer.name=SGD",
                                      "optimizer.eps=1"});
  EXPECT_THAT(text, HasSubstr("command line: optimizer.learning_rte=1: unknown key"));
  EXPECT_THAT(text,
              HasSubstr("command line: lr=1: `lr` stands outside any table; it belongs to "
                        "[optimizer]"));
  EXPECT_THAT(text, HasSubstr("command line: optimiser.lr=1: unknown table [optimiser]"));
  EXPECT_THAT(text,
              HasSubstr("command line: training.steps=6: duplicate key: training.steps is "
                        "given twice"));
  EXPECT_THAT(text, HasSubstr("command line: optimizer.eps=1: `eps` belongs to AdamW"));
}

TEST(Load, SaysWhereAMisplacedKeyBelongs) {
  EXPECT_THAT(complaint("[training]\nlr = 1.0\n"),
              HasSubstr("r.toml:2:1: `lr` is not a key of [training]; it belongs to [optimizer]"));
}

TEST(Load, SaysWhatATypeShouldBeAndWhatItIs) {
  const std::string text = complaint(R"([training]
steps = "many"
seq_len = 1.5
max_norm = true
[debug]
deterministic = 1
[job]
dump_folder = 3
[metrics]
log_freq = [1]
)");
  EXPECT_THAT(text,
              HasSubstr("r.toml:2:1: training.steps expects an integer (at least 1 and at most "
                        "1000000000000), found "
                        "the string \"many\""));
  EXPECT_THAT(text,
              HasSubstr("training.seq_len expects an integer (at least 1 and at most 16777216), "
                        "found the float 1.5"));
  EXPECT_THAT(text, HasSubstr("training.max_norm expects a number (at least 0), found true"));
  EXPECT_THAT(text, HasSubstr("debug.deterministic expects true or false, found the integer 1"));
  EXPECT_THAT(text, HasSubstr("job.dump_folder expects a string, found the integer 3"));
  EXPECT_THAT(text, HasSubstr("metrics.log_freq expects an integer (at least 1), found the list"));
  EXPECT_THAT(complaint("", {"training.steps=many"}),
              HasSubstr("command line: training.steps=many: training.steps expects an integer "
                        "(at least 1 and at most 1000000000000), found `many`"));
  EXPECT_THAT(complaint("", {"--debug.deterministic=perhaps"}),
              HasSubstr("expects true or false, found `perhaps`"));
}

TEST(Load, RefusesValuesOutOfRange) {
  const std::string text = complaint(R"([training]
steps = 0
global_batch_size = -2
max_norm = nan
[optimizer]
beta1 = 1.0
lr = -1
[parallelism]
tensor_parallel_degree = -1
[validation]
fraction = 0
)");
  EXPECT_THAT(text,
              HasSubstr("training.steps must be at least 1 and at most 1000000000000, found 0"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "training.global_batch_size must be at least 1 and at most 16777216, or -1, found -2"));
  EXPECT_THAT(text, HasSubstr("training.max_norm must be at least 0, found nan"));
  EXPECT_THAT(text, HasSubstr("optimizer.beta1 must be at least 0 and below 1, found 1.0"));
  EXPECT_THAT(text, HasSubstr("optimizer.lr must be at least 0, found -1.0"));
  EXPECT_THAT(
      text,
      HasSubstr("parallelism.tensor_parallel_degree must be at least 1 and at most 4096, found -1; "
                "only parallelism.data_parallel_shard_degree may be -1"));
  EXPECT_THAT(text, HasSubstr("validation.fraction must be above 0 and below 1, found 0.0"));
}

TEST(Load, RefusesUnknownChoicesWithTheNearest) {
  EXPECT_THAT(complaint("[optimizer]\nname = \"AdamV\"\n"),
              HasSubstr("r.toml:2:1: optimizer.name must be one of \"AdamW\", \"SGD\", found "
                        "\"AdamV\"; the nearest is \"AdamW\""));
  EXPECT_THAT(complaint("", {"training.matmul=onedn"}), HasSubstr("the nearest is \"onednn\""));
  EXPECT_THAT(complaint("", {"parallelism.reduce_gradients=steps"}),
              HasSubstr("parallelism.reduce_gradients must be one of \"step\", \"microbatch\", "
                        "found \"steps\"; the nearest is \"step\""));
  EXPECT_THAT(complaint("", {"parallelism.zero_stage=4"}),
              HasSubstr("parallelism.zero_stage must be at least 0 and at most 3, found 4"));
  EXPECT_THAT(complaint("", {"parallelism.zero_stage=-1"}),
              HasSubstr("parallelism.zero_stage must be at least 0 and at most 3, found -1"));
}

TEST(Load, RefusesSizesThatCannotBeAModel) {
  EXPECT_THAT(
      complaint("[model]\ndim = 100\nn_heads = 16\n"),
      HasSubstr("r.toml:2:1: dim 100 cannot be split into 16 heads; the nearest dims are 96 "
                "and 112"));
  EXPECT_THAT(complaint("[model]\ndim = 12\nn_heads = 4\n"), HasSubstr("a head is 3 wide"));
  EXPECT_THAT(
      complaint("[model]\nn_kv_heads = 3\n"),
      HasSubstr("16 query heads cannot share 3 key and value heads; n_kv_heads may be 1, 2, "
                "4, 8, 16"));
}

TEST(Load, RefusesDataThatContradictsItself) {
  EXPECT_THAT(complaint("[training]\ndataset = \"synthetic\"\ndataset_path = \"a.txt\"\n"),
              HasSubstr("r.toml:3:1: dataset = \"synthetic\" makes its own tokens"));
  EXPECT_THAT(complaint("[training]\ndataset_path = \"a.txt\"\n[model]\nvocab_size = 97\n"),
              HasSubstr("model.vocab_size must be at least 256, found 97"));
  EXPECT_THAT(complaint("", {"training.dataset=synthetic", "validation.enable=true"}),
              HasSubstr("validation needs a file"));
  EXPECT_THAT(complaint("[training]\ndataset_path = \"a\"\n[validation]\ndataset_path = \"b\"\n"
                        "fraction = 0.2\n"),
              HasSubstr("leave out one of them"));
}

TEST(Load, AcceptsAFileUnderAnyDatasetName) {
  const Result<RunConfig> config = load_text("", "", {"training.dataset_path=a.txt"});
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(config->training.dataset_path, "a.txt");
}

/// The settings of torchtitan's debug recipe, in our words.
constexpr char kStockRecipe[] = R"([job]
dump_folder = "./outputs"
description = "debug training"
print_config = false
[profiling]
enable_profiling = false
save_traces_folder = "profile_trace"
profile_freq = 100
enable_memory_snapshot = false
save_memory_snapshot_folder = "memory_snapshot"
[metrics]
log_freq = 1
disable_color_printing = false
enable_tensorboard = false
save_tb_folder = "tb"
enable_wandb = false
[model]
name = "llama3"
flavor = "debugmodel"
hf_assets_path = "./tests/assets/tokenizer"
[optimizer]
name = "AdamW"
lr = 8e-4
eps = 1e-8
[lr_scheduler]
warmup_steps = 2
decay_ratio = 0.8
decay_type = "linear"
min_lr_factor = 0.0
[training]
local_batch_size = 8
seq_len = 2048
max_norm = 1.0
steps = 10
dataset = "c4_test"
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
fsdp_reshard_after_forward = "default"
tensor_parallel_degree = 1
enable_async_tensor_parallel = false
pipeline_parallel_degree = 1
pipeline_parallel_schedule = "Interleaved1F1B"
context_parallel_degree = 1
[checkpoint]
enable = true
folder = "checkpoint"
interval = 10
last_save_model_only = false
export_dtype = "float32"
async_mode = "disabled"
[activation_checkpoint]
mode = "memory_budget"
selective_ac_option = "2"
[compile]
enable = false
components = ["model", "loss"]
[quantize.linear.float8]
enable_fsdp_float8_all_gather = false
filter_fqns = ["output"]
[validation]
enable = false
dataset = "c4_validation"
freq = 5
steps = 10
)";

TEST(Load, ListsAllThatAStockRecipeAsksForAtOnce) {
  const std::string text = complaint(kStockRecipe);
  EXPECT_THAT(text, HasSubstr("2 settings that this version cannot follow"));
  EXPECT_THAT(text, HasSubstr("training.dataset = \"c4_test\": named data sets"));
  EXPECT_THAT(text, Not(HasSubstr("checkpoint.enable")));  // works
  EXPECT_THAT(text,
              HasSubstr("activation_checkpoint.mode = \"memory_budget\": none, selective and full "
                        "work in this version; to go on, set activation_checkpoint.mode=none"));
  EXPECT_THAT(text, HasSubstr("all at once: "));
  EXPECT_THAT(text, Not(HasSubstr("Interleaved1F1B")));  // pp = 1: asks for nothing
  EXPECT_THAT(text, Not(HasSubstr("profiling")));        // switched off
}

TEST(Load, RunsAStockRecipeOnceItsAsksAreOverridden) {
  const Result<RunConfig> config = load_text(
      kStockRecipe, "r.toml", {"training.dataset_path=kjv.txt", "activation_checkpoint.mode=none"});
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(config->model.dim, 256);
  EXPECT_EQ(config->optimizer.lr, 8e-4);
  EXPECT_EQ(config->lr_scheduler.warmup_steps, 2);
  EXPECT_EQ(config->training.steps, 10);
  EXPECT_TRUE(config->checkpoint.enable);
  EXPECT_EQ(config->checkpoint.interval, 10);
}

TEST(Load, AsksAreNamedTogetherWithProblems) {
  const std::string text =
      complaint("[training]\nstep = 1\n",
                {"compile.enable=true", "activation_checkpoint.mode=memory_budget"});
  EXPECT_THAT(text, HasSubstr("1 problem in the configuration"));
  EXPECT_THAT(text, HasSubstr("3 settings that this version cannot follow"));
  EXPECT_THAT(text,
              HasSubstr("activation_checkpoint.mode = \"memory_budget\": none, selective and full "
                        "work in this version; to go on, set activation_checkpoint.mode=none"));
}

TEST(Load, AsksForASchedulesNameOnlyWithAPipeline) {
  EXPECT_THAT(complaint("",
                        {"parallelism.pipeline_parallel_degree=2",
                         "parallelism.pipeline_parallel_schedule=ZBVZeroBubble"}),
              HasSubstr("1F1B and GPipe work in this version"));
  EXPECT_THAT(complaint("", {"parallelism.pipeline_parallel_schedule=1f1b"}),
              HasSubstr("the nearest is \"1F1B\""));
}

TEST(Load, GoesOnAfterASyntaxErrorAndSaysItsPlace) {
  const std::string text = complaint("[training]\nsteps = = 3\nseq_lem = 4\n[job\n");
  EXPECT_THAT(text, HasSubstr("r.toml:2:"));
  EXPECT_THAT(text,
              HasSubstr("r.toml:3:1: unknown key `seq_lem` in [training]; the nearest is "
                        "`seq_len`"));
  EXPECT_THAT(text, HasSubstr("r.toml:4:"));
}

TEST(Load, NamesARepeatedTable) {
  const std::string text = complaint("[training]\nsteps = 1\n[job]\n[training]\nseq_len = 2\n");
  EXPECT_THAT(text, HasSubstr("r.toml:4:1: duplicate table [training]"));
}

TEST(Load, SaysWhenTheFileIsNotThere) {
  const Result<RunConfig> config = load("no/such/recipe.toml", {});
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, ErrorCode::kIo);
  EXPECT_THAT(config.error().text, HasSubstr("No such file or directory: no/such/recipe.toml"));
  EXPECT_THAT(load("/", {}).error().text, HasSubstr("the recipe is a folder"));
}

TEST(Load, NeverCrashesOnDamagedText) {
  std::mt19937 random(7);
  const std::string stock = kStockRecipe;
  for (int round = 0; round < 400; ++round) {
    std::string text = stock;
    const int changes = 1 + static_cast<int>(random() % 6);
    for (int change = 0; change < changes; ++change) {
      const size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text[at] = static_cast<char>(random() % 256);
      } else {
        text.erase(at, random() % 20);
      }
    }
    const Result<RunConfig> config = load_text(text, "r.toml", {text.substr(0, 30)});
    ASSERT_FALSE(config);  // the stock recipe asks for things; so does any damaged one
    ASSERT_FALSE(config.error().text.empty());
  }
  for (int round = 0; round < 400; ++round) {
    std::string text(random() % 200, ' ');
    for (char& c : text) {
      c = static_cast<char>(random() % 256);
    }
    const Result<RunConfig> config = load_text(text, "r.toml", {text, "training." + text});
    ASSERT_FALSE(config);
  }
}

}  // namespace
}  // namespace brigade::config
