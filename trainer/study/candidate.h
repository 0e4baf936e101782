// SPDX-License-Identifier: Apache-2.0
/// Candidate: one combination of a study's grid, and what it would be as a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/config/resolve.h"
#include "trainer/config/run_config.h"
#include "trainer/study/grid.h"
#include "trainer/study/study.h"

namespace brigade::study {

/// What is empty is the base's.
struct Candidate {
  int64_t ranks = 1;
  int64_t threads = 1;
  MeshChoice mesh = {};
  std::string flavor = "";
  std::optional<int64_t> zero_stage = {};
  std::string schedule = "";
  std::optional<int64_t> microbatch_size = {};
};

/// Every combination of the grid once. ZeRO stages are taken apart only where dp has more than one
/// rank, schedules where pp has, meshes where there are several ranks. Flavors are left empty when
/// `study` chooses them by memory.
std::vector<Candidate> candidates(const Study& study);

/// "tiny-dp-r2-z1-mb4", without what the candidate leaves to the base.
std::string id_of(const Candidate& candidate);

/// A candidate as a run.
struct Plan {
  Candidate candidate = {};
  std::vector<std::string> settings = {};
  config::RunConfig config = {};
  config::RunFacts facts = {};
};

/// Errors: kUsage in one line: what config::load() and config::resolve() say of it, or why its kind
/// of scaling cannot have it. `base` is the base recipe under the study's settings.
Result<Plan> plan_of(const Candidate& candidate, const Study& study, const config::RunConfig& base);

/// The point of a plan, without its series. `cores`: of this machine.
PlannedPoint point_of(const Plan& plan, int64_t cores);

}  // namespace brigade::study
