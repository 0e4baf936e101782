// SPDX-License-Identifier: Apache-2.0
// R056: operations of zero elements, on all ranks or on some, over every engine.
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/collective/world.h"
#include "tests/parallel/collective/engines.h"

namespace brigade::collective {
namespace {

class EmptyOperations : public ::testing::TestWithParam<testing::EngineCase> {
 protected:
  void on_group(const std::function<void(Communicator&)>& function) {
    testing::run_engine(GetParam(), [&](World& world) {
      const auto group = world.everyone("all");
      function(*group);
      expect_sums_still_match(*group);
    });
  }

  static void expect_sums_still_match(Communicator& group) {
    int64_t value = group.rank() + 1;
    ASSERT_TRUE(
        group.all_reduce({bytes_of(std::span<int64_t>(&value, 1))}, DType::kInt64, ReduceOp::kSum)
            .wait());
    EXPECT_EQ(value, int64_t{group.size()} * (group.size() + 1) / 2);
  }
};

TEST_P(EmptyOperations, R056_OfNothingAnywhereCompleteAndLaterOnesMatch) {
  on_group([](Communicator& group) {
    const size_t members = static_cast<size_t>(group.size());
    const int next = (group.rank() + 1) % group.size();
    const int previous = (group.rank() + group.size() - 1) % group.size();
    EXPECT_TRUE(group.all_reduce({}, DType::kFloat32, ReduceOp::kSum).wait());
    EXPECT_TRUE(group.broadcast({}, 0).wait());
    EXPECT_TRUE(group.all_gather({}, std::vector<Spans>(members)).wait());
    EXPECT_TRUE(
        group.reduce_scatter(std::vector<ConstSpans>(members), {}, DType::kFloat32, ReduceOp::kMax)
            .wait());
    EXPECT_TRUE(
        group.all_to_all(std::vector<ConstSpans>(members), std::vector<Spans>(members)).wait());
    Work sent = group.send({}, next, 7);
    EXPECT_TRUE(group.receive({}, previous, 7).wait());
    EXPECT_TRUE(sent.wait());
  });
}

TEST_P(EmptyOperations, R056_OfNothingOnSomeRanksGiveTheOthersTheirShare) {
  on_group([](Communicator& group) {
    // Only the last member owns anything: two floats.
    const int owner = group.size() - 1;
    std::vector<float> terms = {1.0F, 2.0F};
    std::vector<ConstSpans> by_member(static_cast<size_t>(group.size()));
    by_member[static_cast<size_t>(owner)] = {bytes_of(std::span(terms))};
    std::vector<float> sum(2, 0.0F);
    const Spans mine = group.rank() == owner ? Spans{bytes_of(std::span(sum))} : Spans{};
    ASSERT_TRUE(group.reduce_scatter(by_member, mine, DType::kFloat32, ReduceOp::kSum).wait());
    std::vector<float> gathered(2, 0.0F);
    std::vector<Spans> parts(static_cast<size_t>(group.size()));
    parts[static_cast<size_t>(owner)] = {bytes_of(std::span(gathered))};
    const ConstSpans given =
        group.rank() == owner ? ConstSpans{bytes_of(std::span(sum))} : ConstSpans{};
    ASSERT_TRUE(group.all_gather(given, parts).wait());
    const float members = static_cast<float>(group.size());
    EXPECT_EQ(gathered, (std::vector<float>{members, 2.0F * members}));
  });
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         EmptyOperations,
                         ::testing::ValuesIn(testing::engine_cases({2, 3, 4})),
                         testing::engine_name);

}  // namespace
}  // namespace brigade::collective
