// SPDX-License-Identifier: Apache-2.0
/// What a run has printed or written, read by somebody who cannot trust it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/study/run_result.h"

namespace brigade::study {

/// The last lines of a file that are not empty, the oldest first, fit for a terminal: what is not
/// printable ASCII or UTF-8 is '?', long ones are cut. Reads the file's end alone.
std::vector<std::string> last_lines(const std::string& path, size_t most);

/// Step times and memory out of a run's metrics.jsonl: of `steps` steps after `warmup_steps`.
/// Errors: kData when one of them is missing.
Result<RunResult> read_own_records(const std::string& path, int64_t warmup_steps, int64_t steps);

/// The last line of a peer's output that is a JSON object:
///   step_ms_median         of its own kept steps; needed
///   peak_rss_mb_per_rank   a list
///   comm_bytes_per_step_all_ranks
///   failed, message        in place of these: what went wrong
/// Errors: kAborted: a failure that the peer tells; kData: no such line, with what was printed
///         instead, or no time of a step in it.
Result<RunResult> read_peer_output(const std::string& path);

}  // namespace brigade::study
