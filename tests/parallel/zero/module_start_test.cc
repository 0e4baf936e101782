// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/module_start.h"

#include <string>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/zero/small_net.h"
#include "tests/support/rank_threads.h"

namespace brigade::zero {
namespace {

using ::testing::HasSubstr;

TEST(ModuleStart, GivesTheFirstRanksValuesInAnyLayoutOfMemory) {
  testing::run_ranks(3, [](collective::World& world) {
    const auto everyone = world.everyone("all");
    const at::Tensor whole = at::arange(12, at::kFloat) + 100 * world.rank();
    const at::Tensor columns = whole.view({3, 4}).t();
    const at::Tensor counter = at::full({}, world.rank() + 7, at::kLong);
    ModuleRows rows;
    rows.frozen = {columns};
    rows.buffers = {counter, at::empty({0})};
    ASSERT_TRUE(start_equal(*everyone, rows));
    EXPECT_TRUE(columns.equal(at::arange(12, at::kFloat).view({3, 4}).t()));
    EXPECT_EQ(counter.item<int64_t>(), 7);
  });
}

TEST(ModuleStart, RefusesModulesThatDiffer) {
  for (const std::string what : {"shape", "name", "buffer"}) {
    testing::run_ranks(2, [&](collective::World& world) {
      const bool odd = world.rank() == 1;
      SmallNet net(0);
      ModuleRows rows = value_or_throw(module_rows(net, {}));
      if (odd && what == "shape") {
        rows.trained[2].parameter = at::ones({7, 5});
      } else if (odd && what == "name") {
        rows.trained[2].facts.name = "weight";
      } else if (odd) {
        rows.buffers.clear();
      }
      const auto everyone = world.everyone("all");
      const Result<void> done = start_equal(*everyone, rows);
      ASSERT_FALSE(done) << what;
      EXPECT_EQ(done.error().code, ErrorCode::kMismatch);
      EXPECT_THAT(done.error().text, HasSubstr("the ranks do not have the same module"));
    });
  }
}

}  // namespace
}  // namespace brigade::zero
