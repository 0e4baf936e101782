// SPDX-License-Identifier: Apache-2.0
/// scale.csv: one line per point, for spreadsheets. RFC 4180; a value that does not exist is empty.
///
///   write_file("scale.csv", to_csv(results));
///
/// Columns: id, series, peer, model, ranks, threads, mesh, zero_stage, schedule, microbatch_size,
/// global_batch_size, oversubscribed (0 or 1), failure, repeats, steps (kept ones),
/// step_ms, step_ms_low, step_ms_high (median and its 95 % interval),
/// tokens_per_s, tokens_per_s_low, tokens_per_s_high (all ranks), tokens_per_s_per_rank,
/// mfu (0 to 1), peak_bytes (of the rank with the most), bytes_communicated (a step, all ranks),
/// then milliseconds by part, mean over ranks: compute_ms, exposed_tensor_ms, ..., idle_ms.
/// Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

#include "trainer/scaling/results.h"

namespace brigade::scaling {

std::string to_csv(const Results& results);

/// `text` as one field: in quotes where it holds a comma, a quote, a line break or an outer space.
std::string csv_field(std::string_view text);

}  // namespace brigade::scaling
