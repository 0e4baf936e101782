// SPDX-License-Identifier: Apache-2.0
#include "tools/scale/stop_request.h"

#include <gtest/gtest.h>

namespace brigade::scale {
namespace {

volatile std::sig_atomic_t heard = 0;

void hear(int number) {
  heard = number;
}

void (*handler_of(int number))(int) {
  struct sigaction now = {};
  sigaction(number, nullptr, &now);
  return now.sa_handler;
}

/// Each signal has a handler of the test's around it.
class StopRequestOf : public ::testing::TestWithParam<int> {
 protected:
  StopRequestOf() {
    heard = 0;
    struct sigaction action = {};
    action.sa_handler = hear;
    sigaction(SIGINT, &action, &interrupt_);
    sigaction(SIGTERM, &action, &terminate_);
  }
  ~StopRequestOf() override {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }

 private:
  struct sigaction interrupt_ = {};
  struct sigaction terminate_ = {};
};

TEST_P(StopRequestOf, IsMadeByASignalAndNotBefore) {
  const StopRequest stop;
  EXPECT_FALSE(stop.made());
  std::raise(GetParam());
  EXPECT_TRUE(stop.made());
  EXPECT_TRUE(stop.made()) << "it stays";
  EXPECT_EQ(heard, 0) << "nobody else hears it";
}

TEST_P(StopRequestOf, IsNotedOnceAndTheNextSignalEndsTheProcess) {
  const StopRequest stop;
  EXPECT_NE(handler_of(GetParam()), SIG_DFL);
  std::raise(GetParam());
  EXPECT_EQ(handler_of(GetParam()), SIG_DFL);
}

TEST_P(StopRequestOf, LeavesTheHandlersThatWereThere) {
  {
    const StopRequest stop;
    std::raise(GetParam());
  }
  for (const int number : {SIGINT, SIGTERM}) {
    EXPECT_EQ(handler_of(number), &hear);
  }
  std::raise(GetParam());
  EXPECT_EQ(heard, GetParam());
}

TEST_P(StopRequestOf, BeginsAfresh) {
  {
    const StopRequest stop;
    std::raise(GetParam());
  }
  const StopRequest next;
  EXPECT_FALSE(next.made());
}

TEST_P(StopRequestOf, ASecondSignalOfEitherKindEndsTheProcess) {
  for (const int second : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          const StopRequest stop;
          std::raise(GetParam());
          std::raise(second);
          std::_Exit(stop.made() ? 0 : 1);
        },
        ::testing::KilledBySignal(second),
        "");
  }
}

INSTANTIATE_TEST_SUITE_P(Signals,
                         StopRequestOf,
                         ::testing::Values(SIGINT, SIGTERM),
                         [](const auto& one) { return one.param == SIGINT ? "INT" : "TERM"; });

}  // namespace
}  // namespace brigade::scale
