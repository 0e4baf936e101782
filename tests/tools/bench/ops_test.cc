// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/ops.h"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/bench/bench.h"

namespace brigade::bench {
namespace {

TEST(BenchOps, TimesEveryOpBesideLibtorchs) {
  const std::vector<OpTimes> all = time_ops(3, 5);
  ASSERT_GE(all.size(), 3U);
  for (const OpTimes& times : all) {
    EXPECT_FALSE(times.op.empty());
    EXPECT_GT(times.bare_forward_us, 0.0) << times.op;
    EXPECT_GT(times.forward_us, 0.0) << times.op;
    EXPECT_GT(times.bare_both_us, 0.0) << times.op;
    EXPECT_GT(times.both_us, 0.0) << times.op;
  }
}

TEST(Bench, SaysWhatThereIs) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run({"brigade", "bench", "--help"}, out, err), 0);
  EXPECT_NE(out.str().find("brigade bench ops"), std::string::npos);
  EXPECT_EQ(run({"brigade", "bench", "oops"}, out, err), 2);
  EXPECT_EQ(run({"brigade", "bench"}, out, err), 2);
  EXPECT_NE(err.str().find("usage: brigade bench step"), std::string::npos);
}

}  // namespace
}  // namespace brigade::bench
