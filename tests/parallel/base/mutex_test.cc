// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/mutex.h"

#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(Mutex, KeepsCountersWholeUnderContention) {
  Mutex mutex;
  int64_t count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int step = 0; step < 10'000; ++step) {
        const MutexLock lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(count, 40'000);
}

TEST(ConditionVariable, WakesAWaiterThatHoldsTheMutex) {
  Mutex mutex;
  ConditionVariable changed;
  bool ready = false;
  std::thread setter([&] {
    const MutexLock lock(mutex);
    ready = true;
    changed.notify_one();
  });
  mutex.lock();
  const bool woken = changed.wait_for(mutex, std::chrono::seconds(30), [&] { return ready; });
  mutex.unlock();
  setter.join();
  EXPECT_TRUE(woken);
}

}  // namespace
}  // namespace brigade
