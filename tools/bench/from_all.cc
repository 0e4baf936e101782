// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/from_all.h"

#include <memory>
#include <span>
#include <utility>

namespace brigade::bench {

Result<std::vector<double>> from_all(collective::World& world, double value) {
  std::vector<double> values(static_cast<size_t>(world.size()));
  std::vector<collective::Spans> parts;
  for (double& part : values) {
    parts.push_back({collective::bytes_of(std::span<double>(&part, 1))});
  }
  const std::unique_ptr<collective::Communicator> group = world.everyone("bench");
  collective::Work work =
      group->all_gather({collective::bytes_of(std::span<double>(&value, 1))}, std::move(parts));
  if (Result<void> done = work.wait(); !done) {
    return fail(done.error());
  }
  return values;
}

}  // namespace brigade::bench
