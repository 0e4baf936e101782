// SPDX-License-Identifier: Apache-2.0
/// The ledgers of one training step of a recipe.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/tensor/ledger.h"
#include "trainer/config/run_config.h"

namespace brigade::explain {

/// What the first rank of a pipeline stage wrote.
struct StageLedger {
  int64_t stage = 0;
  int64_t first_rank = 0;
  int64_t last_rank = 0;
  tensor::Ledger ledger;
};

struct StepLedgers {
  mesh::Mesh world;
  mesh::Mesh stage_mesh;
  std::vector<StageLedger> stages;
};

/// Runs the step on synthetic tokens, its ranks as threads of this process.
/// Errors: kUsage for a recipe that cannot be; a rank's failure.
Result<StepLedgers> step_ledgers(config::RunConfig config);

}  // namespace brigade::explain
