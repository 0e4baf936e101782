// SPDX-License-Identifier: Apache-2.0
#include "tests/trainer/loop/loopback_ranks.h"

#include <thread>

#include "tests/support/rank_threads.h"

namespace brigade::loop {

std::vector<Result<void>> run_loopback(
    int size, const std::function<Result<void>(const launch::RankIdentity& who)>& rank) {
  std::vector<Result<void>> results(static_cast<size_t>(size));
  const uint16_t port = testing::free_port();
  std::vector<std::thread> threads;
  for (int number = 0; number < size; ++number) {
    threads.emplace_back([&, number] {
      launch::RankIdentity who;
      who.rank = number;
      who.world_size = size;
      who.master_port = port;
      results[static_cast<size_t>(number)] = rank(who);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return results;
}

}  // namespace brigade::loop
