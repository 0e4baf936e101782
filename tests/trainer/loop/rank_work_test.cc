// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/rank_work.h"

#include <stdexcept>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/loop/loopback_ranks.h"
#include "tests/trainer/loop/recipe.h"

namespace brigade::loop {
namespace {

using ::testing::HasSubstr;

constexpr int kRanks = 3;
constexpr int kFailing = 1;

config::RunConfig soon() {
  return recipe({"comm.init_timeout_seconds=20", "model.vocab_size=256"});
}

/// Waits for all others; the failing rank has a message in flight and does `fault` instead.
class Drill final : public RankWork {
 public:
  using Fault = std::function<Result<void>()>;

  Drill(int rank, Fault fault) : rank_(rank), fault_(std::move(fault)) {}

  Result<void> run(collective::World& world, const data::Sources&) override {
    group_ = world.everyone("drill");
    if (rank_ == kFailing) {
      pending_ = group_->receive({collective::bytes_of(std::span<double>(&value_, 1))}, 0, 7);
      return fault_();
    }
    return group_->barrier().wait();
  }

  Error placed(Error error) const override {
    if (!error.text.starts_with("drill: ")) {
      error.text = "drill: " + error.text;
    }
    return error;
  }

 private:
  int rank_;
  Fault fault_;
  double value_ = 0.0;
  std::unique_ptr<collective::Communicator> group_;
  collective::Work pending_;
};

std::vector<Result<void>> drill(const Drill::Fault& fault) {
  const config::RunConfig config = soon();
  return run_loopback(kRanks, [&](const launch::RankIdentity& who) {
    return with_world(config, who, std::make_unique<Drill>(who.rank, fault));
  });
}

void expect_told(const std::vector<Result<void>>& results, const std::string& text) {
  for (const Result<void>& result : results) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().origin_rank, kFailing);
    EXPECT_EQ(result.error().text, text);
  }
}

TEST(RankWork, IsToldToAllBeforeItDropsWhatIsInFlight) {
  expect_told(drill([] { return fail(ErrorCode::kData, "no such letter"); }),
              "drill: no such letter");
}

TEST(RankWork, TellsAnExceptionToAll) {
  expect_told(drill([]() -> Result<void> { throw std::runtime_error("thrown letter"); }),
              "drill: thrown letter");
}

TEST(RankWork, R049ARankWithoutItsDataIsNamedByAll) {
  const config::RunConfig good = soon();
  config::RunConfig bad = good;
  bad.training.dataset = "text";
  bad.training.dataset_path = "/no/such/text";
  const std::vector<Result<void>> results =
      run_loopback(kRanks, [&](const launch::RankIdentity& who) {
        const config::RunConfig& config = who.rank == kFailing ? bad : good;
        return with_world(config, who, std::make_unique<Drill>(who.rank, nullptr));
      });
  for (const Result<void>& result : results) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().origin_rank, kFailing);
    EXPECT_THAT(result.error().text, HasSubstr("/no/such/text"));
  }
  EXPECT_EQ(results[kFailing].error().code, ErrorCode::kIo);
}

TEST(RankWork, LeavesAWorldOfOneAndOfSeveral) {
  class Quiet final : public RankWork {
   public:
    Result<void> run(collective::World& world, const data::Sources& sources) override {
      EXPECT_NE(sources.training, nullptr);
      return world.everyone("quiet")->barrier().wait();
    }
  };
  const config::RunConfig config = soon();
  EXPECT_TRUE(with_world(config, {}, std::make_unique<Quiet>()));
  for (const Result<void>& result : run_loopback(kRanks, [&](const launch::RankIdentity& who) {
         return with_world(config, who, std::make_unique<Quiet>());
       })) {
    EXPECT_TRUE(result) << result.error().text;
  }
}

}  // namespace
}  // namespace brigade::loop
