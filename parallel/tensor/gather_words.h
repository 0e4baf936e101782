// SPDX-License-Identifier: Apache-2.0
/// gather_words: a few words of every rank of the mesh, on every rank. What boundaries check with.
///
/// It is no cast, so the ledger does not know of it: what a check sends does not depend on tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parallel/tensor/program.h"

namespace brigade::tensor {

/// Rank 0's words, then rank 1's, and so on; all ranks give equally many.
///
/// Collective: over the whole mesh; nothing on a mesh of one rank.
/// Errors:     the communicator's, thrown as Exception.
std::vector<uint64_t> gather_words(Program& program, std::span<const uint64_t> mine);

}  // namespace brigade::tensor
