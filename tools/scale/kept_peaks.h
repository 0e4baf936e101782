// SPDX-License-Identifier: Apache-2.0
/// The peaks of a study's machine, kept in the study's folder: a study has one measure for all of
/// its runs, also those that were made after it was stopped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "parallel/base/dtype.h"
#include "parallel/base/result.h"

namespace brigade::scale {

/// FLOP/s by element type and threads of a rank.
using Peaks = std::map<std::pair<DType, int64_t>, double>;

/// What `folder` keeps; nothing where it keeps none that can be read.
Peaks kept_peaks(const std::string& folder);

/// Errors: kIo.
Result<void> keep_peaks(const std::string& folder, const Peaks& peaks);

}  // namespace brigade::scale
