// SPDX-License-Identifier: Apache-2.0
/// Parameters that the first and the last stage share: the use's gradient goes to the owner, the
/// owner's new weight comes back. Internal to the module.
///
/// The owner is on the first stage, the use on the last, at the same coordinates elsewhere, so both
/// hold equal boxes and equal shards. A parameter tied within one stage is ParameterSet's business.
#pragma once

#include "parallel/executor/executor.h"
#include "parallel/executor/messages.h"

namespace brigade::executor {

/// After reduce(): adds each use's reduced gradient onto its owner's. Throws.
void send_tied_gradients(const Context& context, Messages& messages);

/// After gather(): gives each use the whole used box of its owner. Throws.
void send_tied_weights(const Context& context, Messages& messages);

}  // namespace brigade::executor
