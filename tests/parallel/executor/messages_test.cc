// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/messages.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "tests/support/rank_threads.h"

namespace brigade::executor {
namespace {

TEST(Messages, AreTakenInTheOrderOfPosting) {
  testing::run_ranks(2, [](collective::World& world) {
    const auto pipeline = world.group({0, 1}, "pp");
    Messages messages(pipeline.get());
    if (world.rank() == 0) {
      // Sent in the other order, told apart by their tags.
      messages.send(at::full({3}, 2.0F), 1, 7);
      messages.send(at::arange(6, at::kFloat).view({2, 3}).t(), 1, 4);
      messages.poll();
      messages.finish_sends();
      return;
    }
    messages.post_receive(at::empty({3, 2}), 0, 4);
    messages.post_receive(at::empty({3}), 0, 7);
    EXPECT_EQ(messages.posted_receives(), 2U);
    EXPECT_TRUE(at::equal(messages.take(), at::arange(6, at::kFloat).view({2, 3}).t()));
    EXPECT_TRUE(at::equal(messages.take(), at::full({3}, 2.0F)));
    EXPECT_EQ(messages.posted_receives(), 0U);
  });
}

TEST(Messages, KeepWhatTheySendAlive) {
  testing::run_ranks(2, [](collective::World& world) {
    const auto pipeline = world.group({0, 1}, "pp");
    Messages messages(pipeline.get());
    if (world.rank() == 0) {
      for (int i = 0; i < 20; ++i) {
        messages.send(at::full({1000}, static_cast<float>(i)), 1, 1);
      }
      messages.finish_sends();
      return;
    }
    for (int i = 0; i < 20; ++i) {
      messages.post_receive(at::empty({1000}), 0, 1);
      EXPECT_TRUE(at::equal(messages.take(), at::full({1000}, static_cast<float>(i))));
    }
  });
}

TEST(Messages, NeedAPipeline) {
  Messages messages(nullptr);
  EXPECT_THROW(messages.send(at::ones({1}), 0, 0), CheckFailure);
  EXPECT_THROW(messages.take(), CheckFailure);
  messages.finish_sends();
}

}  // namespace
}  // namespace brigade::executor
