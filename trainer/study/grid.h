// SPDX-License-Identifier: Apache-2.0
/// points_of: a study as the points that can run, those that cannot with the reason why, and the
/// series that the points make.
///
///   Result<Grid> grid = points_of(study, {.cores = 2});
///   grid->points[0].settings      // {"parallelism.tensor_parallel_degree=2", ...}
///
/// One rank is one point, whatever its mesh would be with more: it is measured once and begins
/// every series of its model, threads and microbatch. So it is with ZeRO stages where dp has one
/// rank, and with schedules where there is one stage.
///
/// What stays the same while the ranks grow:
///   strong              the model and the global batch
///   weak                the model, and the sequences of each data rank: the global batch is
///                       batch_per_data_rank x data ranks. Points of one data rank and several
///                       ranks are refused, since the work of a rank would fall; and one rank
///                       begins only the series along data axes alone.
///   memory_constrained  the global batch, and the memory of a rank: the model is the largest of
///                       model_flavor whose planned bytes fit
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/config/resolve.h"
#include "trainer/config/run_config.h"
#include "trainer/scaling/results.h"
#include "trainer/study/study.h"

namespace brigade::study {

/// The most bytes that a rank of such a run will need.
using PlannedBytes =
    std::function<Result<int64_t>(const config::RunConfig& config, const config::RunFacts& facts)>;

struct Machine {
  int64_t cores = 1;
  PlannedBytes planned_bytes = {};  ///< needed by memory-constrained studies alone
};

/// Point::series is the first of those that the point belongs to.
struct PlannedPoint {
  scaling::Point point = {};
  std::vector<std::string> settings =
      {};                    ///< overrides for `brigade train`, without job.dump_folder
  std::string command = "";  ///< of a peer, for /bin/sh; "" for brigade itself
  int64_t seq_len = 1;
  double step_flops = 0;  ///< roughly: 6 x weights x tokens of a step
};

struct RefusedPoint {
  std::string id = "";
  std::string reason = "";
};

struct PlannedSeries {
  std::string name = "";
  std::vector<size_t> points = {};  ///< indices into Grid::points, the fewest ranks first
};

struct Grid {
  std::vector<PlannedPoint> points = {};
  std::vector<RefusedPoint> refused = {};
  std::vector<PlannedSeries> series = {};
  std::string constant = "";  ///< one line: what stays the same while the ranks grow
};

/// Errors: those of the base recipe; kUsage when no point can run (why each fell), when a peer
///         names a series that is none, or when bytes are to be planned and nobody can.
Result<Grid> points_of(const Study& study, const Machine& machine);

}  // namespace brigade::study
