// SPDX-License-Identifier: Apache-2.0
// The program that run_test.cc starts: all ranks add up their numbers; one may fail instead.
//
//   run_program [--ranks=N] [fail=RANK]
#include <iostream>
#include <stdexcept>
#include <string>

#include "trainer/launch/run.h"

namespace {

void add_up(brigade::collective::World& world, const std::string& argument) {
  if (argument == "fail=" + std::to_string(world.rank())) {
    throw std::runtime_error("the oven is cold");
  }
  int64_t sum = world.rank() + 1;
  const auto all = world.everyone("all");
  brigade::value_or_throw(
      all->all_reduce({brigade::collective::bytes_of(std::span<int64_t>(&sum, 1))},
                      brigade::DType::kInt64,
                      brigade::collective::ReduceOp::kSum)
          .wait());
  std::cout << "rank " << world.rank() << " of " << world.size() << ": " << sum << std::endl;
}

}  // namespace

int main(int count, char** arguments) {
  return brigade::launch::run(
      [&](brigade::collective::World& world) { add_up(world, arguments[count - 1]); });
}
