// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/trainer.h"

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/tensor/program.h"
#include "tests/support/rank_threads.h"
#include "tests/trainer/loop/recipe.h"
#include "trainer/loop/update.h"

namespace brigade::loop {
namespace {

using Settings = std::vector<std::string>;
using Source = std::shared_ptr<const data::TokenSource>;

const char* const kTp2 = "parallelism.tensor_parallel_degree=2";
const char* const kPp2 = "parallelism.pipeline_parallel_degree=2";
const char* const kDp2 = "parallelism.data_parallel_shard_degree=2";

void on_each_rank(const Settings& settings,
                  const Source& validation,
                  const std::function<void(Trainer&)>& body) {
  const config::RunConfig config = recipe(settings);
  testing::run_ranks(config::wanted_ranks(config), [&](collective::World& world) {
    const auto trainer = value_or_throw(Trainer::create(
        world, {.config = config, .training = counting_tokens(96, 50), .validation = validation}));
    body(*trainer);
  });
}

Error refusal(const config::RunConfig& config, int64_t ranks, int64_t vocabulary) {
  Error error;
  std::mutex mutex;
  testing::run_ranks(ranks, [&](collective::World& world) {
    const auto trainer = Trainer::create(
        world,
        {.config = config, .training = counting_tokens(vocabulary, 50), .validation = nullptr});
    ASSERT_FALSE(trainer);
    const std::lock_guard<std::mutex> lock(mutex);
    error = trainer.error();
  });
  return error;
}

TEST(Trainer, RefusesDataWithMoreIdsThanTheModelAndSaysWhatToSet) {
  const Error error = refusal(recipe(), 1, 97);
  EXPECT_EQ(error.code, ErrorCode::kData);
  EXPECT_EQ(error.text,
            "the data has ids below 97 but model.vocab_size = 96; set model.vocab_size=97");
}

TEST(Trainer, RefusesHeadsThatTheModelCannotHave) {
  config::RunConfig config = recipe();
  config.model.n_heads = 5;
  const Error error = refusal(config, 1, 96);
  EXPECT_EQ(error.code, ErrorCode::kUsage);
  EXPECT_NE(error.text.find("n_heads may be 1, 2, 4"), std::string::npos) << error.text;
}

TEST(Trainer, RefusesAWorldThatIsNotItsMesh) {
  const Error error = refusal(recipe({kTp2}), 3, 96);
  EXPECT_EQ(error.code, ErrorCode::kUsage);
  EXPECT_NE(error.text.find("tp 2 = 2 ranks, but the world has 3"), std::string::npos)
      << error.text;
}

TEST(Trainer, CountsStepsSamplesAndTokens) {
  const optim::LearningRateSchedule rates = value_or_throw(learning_rate_of(recipe()));
  on_each_rank({}, nullptr, [&](Trainer& trainer) {
    EXPECT_EQ(trainer.samples_consumed(), 0);
    for (int64_t step = 1; step <= 3; ++step) {
      const StepReport report = value_or_throw(trainer.step());
      EXPECT_EQ(report.step, step);
      EXPECT_EQ(report.trained_tokens, 8 * 16);
      EXPECT_EQ(trainer.samples_consumed(), 8 * step);
      EXPECT_EQ(report.learning_rate, rates.at(step));
    }
  });
}

TEST(Trainer, EndsARunInWhichRanksCommunicateDifferently) {
  const config::RunConfig config = recipe({kTp2});
  testing::run_ranks(2, [&](collective::World& world) {
    const auto trainer = value_or_throw(Trainer::create(
        world, {.config = config, .training = counting_tokens(96, 50), .validation = nullptr}));
    ASSERT_TRUE(trainer->step());
    ASSERT_TRUE(trainer->step());
    if (world.rank() == 1) {
      trainer->set_observer([&](const schedule::Action&) {
        trainer->program().ledger().write({.axes = {"tp"}, .reason = "a collective of its own"});
      });
    }
    const Result<StepReport> third = trainer->step();
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().code, ErrorCode::kMismatch);
    EXPECT_NE(third.error().text.find("the ledger of group tp"), std::string::npos)
        << third.error().text;
  });
}

TEST(Trainer, LearnsItsSamples) {
  on_each_rank({"optimizer.lr=1e-2", "training.steps=60"}, nullptr, [](Trainer& trainer) {
    const double first = value_or_throw(trainer.step()).loss;
    double last = first;
    for (int step = 0; step < 40; ++step) {
      last = value_or_throw(trainer.step()).loss;
    }
    EXPECT_LT(last, first / 2);
  });
}

TEST(Trainer, MeasuresWhichLibraryMultipliesAndTellsAllRanks) {
  std::vector<tensor::MatmulTable> tables;
  std::mutex mutex;
  on_each_rank({"training.matmul=auto", kDp2}, nullptr, [&](Trainer& trainer) {
    const std::lock_guard<std::mutex> lock(mutex);
    tables.push_back(trainer.matmul());
  });
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0], tables[1]);
}

TEST(Trainer, TakesTheLibraryThatTheRecipeNames) {
  using tensor::MatmulBackend;
  on_each_rank({"training.matmul=libtorch"}, nullptr, [](Trainer& trainer) {
    EXPECT_EQ(trainer.matmul(),
              (tensor::MatmulTable{MatmulBackend::kLibtorch, MatmulBackend::kLibtorch}));
  });
}

ValidationReport validation_of(const Settings& settings, int64_t samples) {
  ValidationReport report;
  std::mutex mutex;
  on_each_rank(settings, counting_tokens(96, samples), [&](Trainer& trainer) {
    const ValidationReport mine = value_or_throw(trainer.validate());
    const std::lock_guard<std::mutex> lock(mutex);
    if (report.trained_tokens == 0) {
      report = mine;
    }
    EXPECT_EQ(mine.loss, report.loss) << "ranks disagree";
    EXPECT_EQ(mine.trained_tokens, report.trained_tokens);
  });
  return report;
}

TEST(Trainer, ValidatesEverySampleOnceAlsoInALastBatchThatIsNotFull) {
  const ValidationReport whole =
      validation_of({"training.global_batch_size=10", "training.microbatch_size=10"}, 10);
  EXPECT_EQ(whole.trained_tokens, 160);
  for (const Settings& mesh :
       {Settings{}, Settings{kDp2}, Settings{kTp2}, Settings{kPp2}, Settings{kDp2, kTp2, kPp2}}) {
    const ValidationReport found = validation_of(mesh, 10);  // batches of 8: one full, one of 2
    EXPECT_EQ(found.trained_tokens, 160);
    EXPECT_NEAR(found.loss, whole.loss, 1e-6);
  }
}

TEST(Trainer, ValidatesTheBatchesThatAreAskedFor) {
  const ValidationReport some = validation_of({"validation.steps=1"}, 10);
  EXPECT_EQ(some.trained_tokens, 8 * 16);
  const ValidationReport all = validation_of({"validation.steps=100"}, 10);
  EXPECT_EQ(all.trained_tokens, 160);
  EXPECT_NE(some.loss, all.loss);
}

TEST(Trainer, ValidatesWithoutChangingItsTraining) {
  const auto losses = [](bool validates) {
    std::vector<double> found;
    on_each_rank({kPp2}, counting_tokens(96, 10), [&](Trainer& trainer) {
      std::vector<double> mine;
      for (int step = 0; step < 3; ++step) {
        mine.push_back(value_or_throw(trainer.step()).loss);
        if (validates) {
          value_or_throw(trainer.validate());
        }
      }
      if (trainer.program().rank() == 0 && trainer.parameters().facts()[0].unit == "embedding") {
        found = mine;
      }
    });
    return found;
  };
  EXPECT_EQ(losses(true), losses(false));
}

}  // namespace
}  // namespace brigade::loop
