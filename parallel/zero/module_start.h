// SPDX-License-Identifier: Apache-2.0
/// What must be equal on all ranks before a module trains: its parameters' names and shapes are
/// compared, its values are those of the first rank. Internal to the module.
#pragma once

#include "parallel/base/result.h"
#include "parallel/collective/communicator.h"
#include "parallel/zero/module_rows.h"

namespace brigade::zero {

/// Collective over `world`: every rank ends with the first rank's parameters, frozen ones and
/// buffers included. One broadcast per tensor.
///
/// Errors: kMismatch where the ranks' modules differ in a name, shape, dtype or unit; the
///         communicator's.
Result<void> start_equal(collective::Communicator& world, const ModuleRows& rows);

}  // namespace brigade::zero
