// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/checkpoint_record.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "tools/bench/record.h"
#include "trainer/scaling/statistics.h"

namespace brigade::bench {
namespace {

/// The median over the rounds of `of(round)`.
template <class Of>
double middle(const CheckpointTimes& times, const Of& of) {
  std::vector<double> values;
  for (const CheckpointRound& round : times.rounds) {
    values.push_back(of(round));
  }
  return rounded(scaling::median(std::move(values)), 2);
}

}  // namespace

std::string to_json(const CheckpointTimes& times) {
  using Round = CheckpointRound;
  const nlohmann::ordered_json line = {
      {"bench", "checkpoint"},
      {"size", times.description},
      {"ranks", times.ranks},
      {"mesh", times.mesh},
      {"mib", rounded(times.mib, 2)},
      {"rounds", times.rounds.size()},
      {"plain_write_ms", middle(times, [](const Round& r) { return r.plain_write; })},
      {"save_ms", middle(times, [](const Round& r) { return r.save; })},
      {"save_speed_of_plain", middle(times, [](const Round& r) { return r.plain_write / r.save; })},
      {"plain_read_ms", middle(times, [](const Round& r) { return r.plain_read; })},
      {"load_ms", middle(times, [](const Round& r) { return r.load; })},
      {"load_speed_of_plain", middle(times, [](const Round& r) { return r.plain_read / r.load; })},
      {"memcpy_ms", middle(times, [](const Round& r) { return r.copy; })},
      {"async_stall_ms", middle(times, [](const Round& r) { return r.stall; })},
      {"stall_of_memcpy", middle(times, [](const Round& r) { return r.stall / r.copy; })}};
  return line.dump();
}

}  // namespace brigade::bench
