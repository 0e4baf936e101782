// SPDX-License-Identifier: Apache-2.0
/// Trains a small model on any mesh, ranks as threads, and brings back what law 1 compares.
///
///   const std::vector<std::string> split = {"parallelism.tensor_parallel_degree=2"};
///   const Outcome one = train({.ranks = 1}, source, 5);
///   const Outcome two = train({.ranks = 2, .settings = split}, source, 5);
///   expect_same_curve(two, one);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "tests/support/small_recipe.h"
#include "trainer/data/token_source.h"
#include "trainer/loop/trainer.h"

namespace brigade::end_to_end {

/// Model G, else as the small recipe.
extern const char* const kGpt2Recipe;

struct Trial {
  int64_t ranks = 1;
  std::vector<std::string> settings;  ///< section.key=value, over `recipe`
  std::string weights;                ///< a safetensors file; empty: initialised from the seed
  /// Called on each rank before its first step.
  std::function<void(loop::Trainer& trainer, collective::World& world)> prepare;
  /// Called on each rank after each step.
  std::function<void(loop::Trainer& trainer, collective::World& world)> after_step = nullptr;
  const char* recipe = testing::kSmallRecipe;
};

struct Outcome {
  std::vector<loop::StepReport> steps;
  std::map<std::string, at::Tensor> parameters;  ///< whole, after the last step; tied uses left out
  int64_t parameter_count = 0;  ///< of all stages together, each as its own ranks hold it
  std::vector<Error> failures;  ///< one a rank, from attempt()

  std::vector<double> losses() const;
  std::vector<double> norms() const;
};

/// Runs `steps` steps. An error of any rank fails the test by an exception.
Outcome train(const Trial& trial, std::shared_ptr<const data::TokenSource> source, int64_t steps);

/// As train(), but a step that fails ends the run of its rank and is noted; the parameters are
/// those it left behind.
Outcome attempt(const Trial& trial, std::shared_ptr<const data::TokenSource> source, int64_t steps);

/// One rank's part in a world of the caller's: up to `steps` steps. The first rank whose step fails
/// aborts the world, as in a run, and all return its error.
Result<void> run_on(collective::World& world,
                    const Trial& trial,
                    const std::shared_ptr<const data::TokenSource>& source,
                    int64_t steps);

/// Runs until a step fails on rank 0 and returns that error; all ranks must fail. Fails the test if
/// none does.
Error failure_of(const Trial& trial,
                 std::shared_ptr<const data::TokenSource> source,
                 int64_t steps);

struct Tolerance {
  double loss = 1e-5;        ///< absolute
  double norm = 1e-5;        ///< relative
  double parameters = 1e-5;  ///< absolute
};

/// Law 1: every loss, every norm, every parameter.
void expect_same_curve(const Outcome& found,
                       const Outcome& wanted,
                       const Tolerance& tolerance = {});

/// The deterministic mode: the same, bit for bit.
void expect_same_bits(const Outcome& found, const Outcome& wanted);

/// Random tokens that depend on (seed, sample) alone, all trained.
std::shared_ptr<const data::TokenSource> random_tokens(int64_t vocabulary,
                                                       int64_t sequence,
                                                       int64_t samples);

}  // namespace brigade::end_to_end
