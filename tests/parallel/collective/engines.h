// SPDX-License-Identifier: Apache-2.0
/// The engines that every test of collectives runs over; a recorded world must not be told apart.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/collective/link_world.h"
#include "parallel/collective/recorded_world.h"
#include "tests/support/rank_threads.h"

namespace brigade::testing {

struct EngineCase {
  const char* engine;
  int64_t ranks;
};

inline std::vector<EngineCase> engine_cases(const std::vector<int64_t>& sizes) {
  std::vector<EngineCase> cases;
  for (const char* engine : {"in_process", "tcp", "recorded"}) {
    for (const int64_t size : sizes) {
      cases.push_back({engine, size});
    }
  }
  return cases;
}

inline std::string engine_name(const ::testing::TestParamInfo<EngineCase>& info) {
  return std::string(info.param.engine) + "_" + std::to_string(info.param.ranks);
}

inline void run_engine(const EngineCase& engine,
                       const RankFunction& function,
                       std::chrono::milliseconds timeout = kDefaultTimeout) {
  if (std::string(engine.engine) == "tcp") {
    run_ranks_tcp(engine.ranks, function, timeout);
  } else if (std::string(engine.engine) == "recorded") {
    const auto recorded = [&](collective::World& beneath) {
      collective::RecordedWorld world(beneath, std::make_shared<Timeline>());
      function(world);
    };
    run_ranks(engine.ranks, recorded, timeout);
  } else {
    run_ranks(engine.ranks, function, timeout);
  }
}

/// Takes the rank away without a goodbye, as a crash would.
inline void vanish(collective::World& world) {
  auto* recorded = dynamic_cast<collective::RecordedWorld*>(&world);
  collective::World& engine = recorded == nullptr ? world : recorded->beneath();
  dynamic_cast<collective::LinkWorld&>(engine).vanish();
}

}  // namespace brigade::testing
