// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/unit_reduction.h"

#include <memory>
#include <vector>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/base/text.h"
#include "tests/parallel/zero/data_ranks.h"

namespace brigade::zero {
namespace {

using sharding::ParameterFacts;

TEST(Reductions, AddsInFp32WhatTravelsInBf16) {
  for (const int stage : {0, 1, 2, 3}) {
    on_layout({.replicate = 2, .shard = 2}, [stage](tensor::Program& program) {
      SCOPED_TRACE(stage);
      Options options = options_of(stage);
      options.wire = DType::kBFloat16;
      const auto set = value_or_throw(ParameterSet::create(program, model_facts(), options));
      set->initialize(5);
      run_microbatches(program, *set, 2);
      value_or_throw(set->reduce());
      for (const Shard& shard : set->shards()) {
        const at::Tensor box =
            used_box(program, *set, *shard.facts, serial_gradient(*shard.facts, 8));
        const at::Tensor wanted = updated_rows(program, *set, *shard.facts, stage, box);
        EXPECT_EQ(shard.gradient.scalar_type(), at::kFloat);
        if (wanted.numel() == 0) {
          continue;
        }
        // A rounding of each rank's term, one of each of the two sums.
        EXPECT_LE((shard.gradient - wanted).abs().max().item<double>(),
                  4 * 0.004 * serial_gradient(*shard.facts, 8).abs().max().item<double>() + 0.02);
        EXPECT_TRUE(at::equal(shard.gradient, shard.gradient.to(at::kBFloat16).to(at::kFloat)));
      }
    });
  }
}

TEST(Reductions, AddsUpReductionsAfterEachMicrobatch) {
  for (const int stage : {2, 3}) {
    for (const Layout& layout : layouts()) {
      on_layout(layout, [&](tensor::Program& program) {
        SCOPED_TRACE(concat(layout.to_string(), ", stage ", stage));
        constexpr int64_t kEach = 3;
        const auto once = make_set(program, stage);
        const auto each_time = make_set(program, stage);
        once->initialize(5);
        each_time->initialize(5);
        run_microbatches(program, *once, kEach);
        value_or_throw(once->reduce());
        run_microbatches(
            program,
            *each_time,
            kEach,
            [](const auto&) { return true; },
            [&] {
              for (size_t unit = each_time->units(); unit-- > 0;) {
                value_or_throw(each_time->reduce(unit));
              }
            });
        value_or_throw(each_time->reduce());
        const std::vector<Shard> wanted = once->shards();
        const std::vector<Shard> found = each_time->shards();
        for (size_t i = 0; i < wanted.size(); ++i) {
          EXPECT_TRUE(at::allclose(found[i].gradient, wanted[i].gradient, 1e-5, 1e-4))
              << wanted[i].facts->name;
        }
      });
    }
  }
}

TEST(Reductions, NamesAParameterWithoutAGradientIfThatIsAnError) {
  on_layout({.shard = 2}, [](tensor::Program& program) {
    Options options = options_of(2);
    options.missing = MissingGradient::kError;
    const auto set = value_or_throw(ParameterSet::create(program, model_facts(), options));
    set->initialize(5);
    run_microbatches(
        program, *set, 1, [](const ParameterFacts& facts) { return facts.name != "embed"; });
    const Result<void> reduced = set->reduce();
    ASSERT_FALSE(reduced);
    EXPECT_EQ(reduced.error().code, ErrorCode::kUsage);
    EXPECT_THAT(reduced.error().text, ::testing::HasSubstr("parameter embed of unit embedding"));
  });
}

/// R012: bf16 gradients of 1 add up to their count; in bf16 they would stop at 256.
TEST(Reductions, R012AddsFiveHundredTwelveOnesOfBf16) {
  on_layout({}, [](tensor::Program& program) {
    Options options;
    options.dtype = DType::kBFloat16;
    options.data = {{"dp_replicate"}, {"dp_shard"}};
    const auto set = value_or_throw(
        ParameterSet::create(program, {{"w", {1}, {"rows"}, {}, true, "", "unit"}}, options));
    set->initialize(1);
    for (int64_t i = 0; i < 512; ++i) {
      torch::autograd::backward({set->weight("w").local().sum()}, {});
      set->accumulate(i, 512);
    }
    value_or_throw(set->reduce());
    EXPECT_EQ(set->shards()[0].gradient.item<float>(), 512.0F);
  });
}

/// One unit after another, as backward ends them: the first's second phase is posted when the
/// second begins, and what is freed when follows.
TEST(Reductions, LetGoOfAUnitsTermsWhenTheNextOneBegins) {
  on_layout({.shard = 2}, [](tensor::Program& program) {
    const auto set = make_set(program, 2);
    set->initialize(5);
    run_microbatches(program, *set, 1);
    const int64_t whole = set->gradient_bytes();
    value_or_throw(set->reduce(set->unit("block.0")));
    value_or_throw(set->reduce(set->unit("embedding")));
    // The block's rows alone; the embedding's terms and rows.
    EXPECT_LT(set->gradient_bytes(), whole);
    value_or_throw(set->reduce());
    int64_t rows = 0;
    for (const Shard& shard : set->shards()) {
      rows += static_cast<int64_t>(shard.gradient.nbytes());
    }
    EXPECT_EQ(set->gradient_bytes(), rows);
  });
}

}  // namespace
}  // namespace brigade::zero
