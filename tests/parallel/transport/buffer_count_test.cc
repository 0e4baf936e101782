// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/buffer_count.h"

#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace brigade::transport {
namespace {

TEST(BufferCount, KnowsWhatIsLiveAndTheMostThereWas) {
  BufferCount count;
  {
    const CountedBytes first(count, 100);
    const CountedBytes second(count, 50);
    EXPECT_EQ(count.bytes().live, 150);
  }
  const CountedBytes third(count, 20);
  EXPECT_EQ(count.bytes().live, 20);
  EXPECT_EQ(count.bytes().peak, 150);
}

TEST(BufferCount, CountsAMovedBufferOnce) {
  BufferCount count;
  CountedBytes first(count, 100);
  const std::byte* data = first.span().data();
  CountedBytes second(std::move(first));
  EXPECT_EQ(second.span().data(), data);
  second = CountedBytes(count, 30);
  EXPECT_EQ(count.bytes().live, 30);
  second = CountedBytes();
  EXPECT_EQ(count.bytes().live, 0);
  EXPECT_TRUE(second.span().empty());
}

TEST(BufferCount, MissesNothingOfManyThreads) {
  constexpr int64_t kThreads = 4;
  BufferCount count;
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10'000; ++round) {
        const CountedBytes bytes(count, 8);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(count.bytes().live, 0);
  EXPECT_GE(count.bytes().peak, 8);
  EXPECT_LE(count.bytes().peak, 8 * kThreads);
}

}  // namespace
}  // namespace brigade::transport
