// SPDX-License-Identifier: Apache-2.0
/// Whether the members of each group wrote the same ledger (law 2).
///
/// Ledgers follow from types, so a difference means that ranks ran different programs, and that the
/// next collective may join what does not belong together.
#pragma once

#include "parallel/base/result.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {

/// Collective over the whole mesh; some tens of bytes per rank. Errors: kMismatch naming the group,
/// the ranks that differ and what this rank's ledger holds of it; the communicator's.
Result<void> agree_on_ledgers(Program& program);

}  // namespace brigade::tensor
