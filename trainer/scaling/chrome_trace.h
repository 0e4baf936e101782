// SPDX-License-Identifier: Apache-2.0
/// The spans of ranks as a trace that Perfetto and chrome://tracing show.
///
///   Result<void> written = write_chrome_trace("trace.json", timelines);
///
/// A rank is a process. Its thread shows what held it: activities, "post all_gather dp_shard" and
/// "all_gather dp_shard" for the wait. Beside it, what was in flight from its posting until someone
/// had waited for it. Arrows go from sends to their receives. Times count from the earliest span.
///
/// Errors: kIo when it cannot be written.
/// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/base/timeline_file.h"

namespace brigade::scaling {

/// JSON, one event a line; `rank`: of that one alone.
std::string chrome_trace(const std::vector<RankTimeline>& timelines,
                         std::optional<int64_t> rank = std::nullopt);

Result<void> write_chrome_trace(const std::string& path,
                                const std::vector<RankTimeline>& timelines,
                                std::optional<int64_t> rank = std::nullopt);

}  // namespace brigade::scaling
