// SPDX-License-Identifier: Apache-2.0
/// expect_same_ops: did all ranks run the same planned ops in the same order?
///
/// Ranks that call different collectives find out by themselves (collective/communicator.h). This
/// finds the others: a branch that one rank alone took and that communicated nothing.
#pragma once

#include <span>
#include <string_view>

#include "parallel/tensor/program.h"
#include "parallel/tensor/trace.h"

namespace brigade::tensor {

/// Collective: over the whole mesh; nothing on a mesh of one rank.
/// Cost:       16 bytes per rank where all agree; more only for the text of the error.
/// Errors:     kMismatch on all ranks with the same text: the first op that differs, and which
///             ranks ran what there. Thrown as Exception.
void expect_same_ops(Program& program,
                     std::span<const TracedOp* const> ops,
                     std::string_view where);

}  // namespace brigade::tensor
