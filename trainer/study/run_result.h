// SPDX-License-Identifier: Apache-2.0
/// RunResult: what one run of one point gave, and its form on disk; merged: a point's over its
/// repeats.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/scaling/results.h"

namespace brigade::study {

struct RunResult {
  std::string failure = "";                           ///< "" when it ran; else why not, in one line
  std::vector<std::string> last_lines = {};           ///< of a failed run's output
  std::vector<double> step_ms = {};                   ///< of kept steps; a peer's is its median
  std::vector<int64_t> peak_bytes = {};               ///< by rank, or the largest of them alone
  std::map<std::string, int64_t> bytes_by_axis = {};  ///< of a step; a peer's are all in "all"
  double seconds = 0;                                 ///< of the whole run
  std::string began = "";                             ///< UTC

  bool operator==(const RunResult&) const = default;
};

/// JSON, one line; numbers read back to the same bits.
std::string to_json(const RunResult& result);

/// Errors: kData saying what it is not.
Result<RunResult> parse_run_result(std::string_view json);

/// All repeats of one point as its result: steps one after another, the most memory and bytes that
/// any had. Failed ones count only when all are: `repeats` says how many ran. What is a matter of
/// statistics or of timelines is left empty.
scaling::PointResult merged(const scaling::Point& point, const std::vector<RunResult>& repeats);

}  // namespace brigade::study
