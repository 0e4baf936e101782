// SPDX-License-Identifier: Apache-2.0
#include "parallel/collective/gather_texts.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/rank_threads.h"

namespace brigade::collective {
namespace {

using testing::run_ranks;

TEST(GatherTexts, BringsTextsOfAnySizeToTheRoot) {
  for (const int64_t ranks : {1, 2, 3, 5}) {
    for (int root = 0; root < ranks; ++root) {
      run_ranks(ranks, [&](World& world) {
        const auto group = world.everyone("texts");
        const auto mine = [](int64_t rank) {
          return std::string(static_cast<size_t>(rank) * 100'000, static_cast<char>('a' + rank));
        };
        const auto texts = value_or_throw(gather_texts(*group, mine(world.rank()), root));
        if (world.rank() != root) {
          EXPECT_TRUE(texts.empty());
          return;
        }
        ASSERT_EQ(texts.size(), static_cast<size_t>(ranks));
        for (int64_t rank = 0; rank < ranks; ++rank) {
          EXPECT_EQ(texts[static_cast<size_t>(rank)], mine(rank));
        }
      });
    }
  }
}

TEST(GatherTexts, KeepsTwoCallsApart) {
  run_ranks(3, [](World& world) {
    const auto group = world.everyone("texts");
    for (const char* word : {"first", "second"}) {
      const auto texts = value_or_throw(gather_texts(*group, word, 0));
      if (world.rank() == 0) {
        EXPECT_THAT(texts, ::testing::Each(std::string(word)));
      }
    }
  });
}

TEST(BroadcastText, GivesAllTheRootsText) {
  for (const std::string& text :
       {std::string(), std::string("one\0two", 7), std::string(100'000, 'x')}) {
    run_ranks(3, [&](World& world) {
      const auto group = world.everyone("texts");
      const std::string mine = world.rank() == 1 ? text : "not looked at";
      EXPECT_EQ(value_or_throw(broadcast_text(*group, mine, 1)), text);
    });
  }
}

}  // namespace
}  // namespace brigade::collective
