// SPDX-License-Identifier: Apache-2.0
/// Unit: parameters that are gathered and reduced together. Internal to the module.
#pragma once

#include <string>
#include <vector>

#include "parallel/collective/communicator.h"
#include "parallel/mesh/mesh.h"
#include "parallel/zero/parameter.h"

namespace brigade::zero {

/// Parameters of a unit whose shards are all-reduced over the same axes.
struct Sum {
  mesh::AxisNames axes;
  std::vector<Parameter*> parameters;
};

struct Unit {
  std::string name;
  std::vector<Parameter*> parameters = {};  ///< all: every use has a gradient of its own
  std::vector<Sum> sums = {};  ///< those of them that are summed over axes beside data.shard
  std::vector<Parameter*> sharded = {};    ///< gathered around each use
  std::vector<Parameter*> refreshed = {};  ///< not sharded, owners: gathered after an update

  // Gathering.
  bool is_whole = true;  ///< or on its way, if `gather` is pending
  collective::Work gather = {};

  // Reducing.
  enum class Phase : uint8_t { kIdle, kScattering, kSumming, kGathering };
  Phase phase = Phase::kIdle;
  std::vector<collective::Work> works = {};
  int64_t accumulated = 0;   ///< microbatches since the gradients were cleared
  int64_t microbatches = 0;  ///< that there will be
  bool is_last = true;       ///< the reduction under way is the step's last of this unit
  bool is_unreduced = true;  ///< accumulated since the last reduction, or none has begun

  bool is_complete() const { return accumulated == microbatches; }
};

}  // namespace brigade::zero
