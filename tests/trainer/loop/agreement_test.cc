// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/agreement.h"

#include <gtest/gtest.h>

#include "tests/support/rank_threads.h"
#include "tests/trainer/loop/recipe.h"
#include "trainer/data/synthetic_bytes.h"

namespace brigade::loop {
namespace {

TEST(Agreement, HoldsWhereAllRanksFoundTheSame) {
  testing::run_ranks(3, [](collective::World& world) {
    const auto group = world.group({0, 1, 2}, "world");
    EXPECT_TRUE(agree_on(*group, {{"recipe", "a"}, {"build", "b"}}));
  });
}

TEST(Agreement, NamesWhatDiffersOnEveryRank) {
  testing::run_ranks(3, [](collective::World& world) {
    const auto group = world.group({0, 1, 2}, "world");
    const std::string build = world.rank() == 1 ? "old" : "new";
    const Result<void> agreed = agree_on(*group, {{"recipe", "a"}, {"build", build}});
    ASSERT_FALSE(agreed);
    EXPECT_EQ(agreed.error().code, ErrorCode::kMismatch);
    EXPECT_NE(agreed.error().text.find("do not have the same build"), std::string::npos);
    EXPECT_NE(agreed.error().text.find("has: " + build), std::string::npos);
  });
}

TEST(Agreement, TellsAllRanksTheErrorOfTheFirst) {
  testing::run_ranks(4, [](collective::World& world) {
    const auto group = world.everyone("world");
    EXPECT_EQ(value_or_throw(first_error(*group, {})), std::nullopt);
    Result<void> mine;
    if (world.rank() == 1 || world.rank() == 3) {
      mine = fail(ErrorCode::kData, world.rank() == 1 ? "of one" : "of three");
    }
    EXPECT_EQ(value_or_throw(first_error(*group, mine)), (Error{ErrorCode::kData, "of one", 1}));
  });
}

TEST(Agreement, SeesAnotherSeedAndAnotherText) {
  const config::RunConfig one = recipe({});
  config::RunConfig other = one;
  other.debug.seed += 1;
  const data::SyntheticBytes text(16, 1);
  const data::SyntheticBytes other_text(16, 2);
  const std::vector<SharedFact> facts = value_or_throw(shared_facts(one, text));
  EXPECT_NE(value_or_throw(shared_facts(other, text))[0].value, facts[0].value);
  EXPECT_NE(value_or_throw(shared_facts(one, other_text))[1].value, facts[1].value);
}

TEST(Agreement, DoesNotMindWhereARunWritesTo) {
  const config::RunConfig one = recipe({});
  config::RunConfig other = one;
  other.job.dump_folder = "elsewhere";
  const data::SyntheticBytes text(16, 1);
  EXPECT_EQ(value_or_throw(shared_facts(other, text))[0].value,
            value_or_throw(shared_facts(one, text))[0].value);
}

TEST(Agreement, FindsAStreamForEveryParameter) {
  const config::RunConfig config = recipe({"model.n_layers=7", "model.tie_embeddings=true"});
  EXPECT_TRUE(check_streams(config, value_or_throw(config::resolve(config, 1))));
}

}  // namespace
}  // namespace brigade::loop
