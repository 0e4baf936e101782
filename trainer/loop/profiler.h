// SPDX-License-Identifier: Apache-2.0
/// Profiler: writes what the timelines of all ranks hold, when the keys of [profiling] say so.
///
///   Profiler profiler(config, world, timeline);
///   ... after each step:
///   if (profiler.is_due(step)) { lines = value_or_throw(profiler.write(step, trainer)); }
///
/// Recording is always on (parallel/base/timeline.h); this only passes it on.
///
/// Collective: write, on all ranks alike.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/base/timeline.h"
#include "parallel/collective/world.h"
#include "trainer/config/run_config.h"
#include "trainer/loop/trainer.h"

namespace brigade::loop {

class Profiler {
 public:
  /// `config` outlives it.
  Profiler(const config::RunConfig& config,
           collective::World& world,
           std::shared_ptr<Timeline> timeline);

  bool is_due(int64_t step) const;

  /// Gathers the last profiling.profiler_active steps on rank 0, which writes them into
  /// {job.dump_folder}/{save_traces_folder}/iteration_STEP (scaling/profile_folder.h). A line to
  /// print, on rank 0.
  /// Errors: the communicator's; on rank 0 kIo.
  Result<std::vector<std::string>> write(int64_t step, Trainer& trainer);

 private:
  const config::RunConfig& config_;
  const std::unique_ptr<collective::Communicator> ranks_;
  const std::shared_ptr<Timeline> timeline_;
};

}  // namespace brigade::loop
