// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/tied_exchange.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/executor/chain_ranks.h"

namespace brigade::executor {
namespace {

/// Reduces gradients that are `owner` on the first stage's embedding, `use` on the last's head.
void reduce_constants(Rank& rank, float owner, float use) {
  const bool is_owner = rank.stage == 0;
  at::Tensor leaf = rank.parameters->weight(is_owner ? "embed.weight" : "head.weight").local();
  leaf.mutable_grad() = at::full(leaf.sizes(), is_owner ? owner : use);
  rank.parameters->accumulate(0, 1);
  value_or_throw(rank.parameters->reduce());
}

TEST(TiedExchange, AddsTheUsesRowsOntoTheOwners) {
  for (const int zero_stage : {0, 1}) {
    on_chain({.stages = 2, .data = 2, .zero_stage = zero_stage, .tied = true}, [](Rank& rank) {
      Messages messages(rank.pipeline.get());
      reduce_constants(rank, 1.0F, 10.0F);
      send_tied_gradients(rank.context(), messages);
      messages.finish_sends();
      const at::Tensor gradient =
          rank.parameters->reduced_gradient(rank.stage == 0 ? "embed.weight" : "head.weight");
      // Summed over two data ranks.
      EXPECT_TRUE(at::equal(gradient, at::full_like(gradient, rank.stage == 0 ? 22.0F : 20.0F)));
    });
  }
}

TEST(TiedExchange, GivesTheUseTheOwnersWholeWeight) {
  on_chain({.stages = 2, .data = 2, .zero_stage = 1, .tied = true}, [](Rank& rank) {
    Messages messages(rank.pipeline.get());
    if (rank.stage == 0) {
      rank.parameters->stored_weight("embed.weight").fill_(3.0F);
    }
    send_tied_weights(rank.context(), messages);
    messages.finish_sends();
    const at::Tensor weight =
        rank.parameters->stored_weight(rank.stage == 0 ? "embed.weight" : "head.weight");
    EXPECT_TRUE(at::equal(weight, at::full_like(weight, 3.0F)));
  });
}

TEST(TiedExchange, MovesNothingWithinOneStage) {
  on_chain({.tied = true}, [](Rank& rank) {
    Messages messages(nullptr);
    send_tied_gradients(rank.context(), messages);
    send_tied_weights(rank.context(), messages);
    EXPECT_EQ(messages.posted_receives(), 0U);
  });
}

}  // namespace
}  // namespace brigade::executor
