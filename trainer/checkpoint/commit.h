// SPDX-License-Identifier: Apache-2.0
/// commit: from files that are on the disk to a checkpoint that is there. On one rank.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/checkpoint/manifest.h"

namespace brigade::checkpoint {

struct Committed {
  std::vector<int64_t> purged;       ///< steps
  std::vector<std::string> remarks;  ///< what could not be removed, and why: a line each
};

/// Joins `head` and the ranks' records (manifests' texts; an empty one says nothing), checks that
/// they cover every tensor, writes the manifest into the step's staging folder, publishes it, and
/// only then removes all but the newest `keep_latest_k` (0: none) complete checkpoints of
/// head.run. Checkpoints of other runs, and folders that are none, are left alone. One that cannot
/// be removed is no failure.
/// Errors: kIo, and then the step is not there, or not certain to outlast a power cut where it is
/// the folder that could not be flushed; kData when the records do not fit together.
Result<Committed> commit(const std::string& folder,
                         const Manifest& head,
                         std::span<const std::string> records,
                         int64_t keep_latest_k);

}  // namespace brigade::checkpoint
