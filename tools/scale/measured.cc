// SPDX-License-Identifier: Apache-2.0
#include "tools/scale/measured.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <thread>
#include <unistd.h>

#include "parallel/base/text.h"
#include "tools/scale/gemm_peak.h"
#include "trainer/checkpoint/utc_time.h"
#include "trainer/config/load.h"
#include "trainer/loop/model_shape.h"
#include "trainer/metrics/run_folder.h"
#include "trainer/scaling/profile_folder.h"
#include "trainer/scaling/profiled.h"
#include "trainer/scaling/statistics.h"
#include "trainer/study/runner.h"
#include "trainer/study/study_run.h"

namespace brigade::scale {
namespace {

using study::PlannedPoint;

constexpr char kProfiles[] = "profile_traces";

int64_t all_steps(const study::Study& study) {
  return study.warmup_steps + study.steps;
}

Result<config::RunConfig> config_of(const PlannedPoint& planned, const study::Study& study) {
  return config::load(study.base, planned.settings);
}

/// "2 cores, AMD EPYC, 23.5 GiB".
std::string machine_words(int64_t cores) {
  std::string processor = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      processor = line.substr(std::min(line.size(), line.find(':') + 2));
      break;
    }
  }
  const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  return concat(counted(cores, "core"), ", ", processor, ", ", bytes_text(bytes));
}

std::vector<scaling::Profile> profiles_of(const PlannedPoint& planned,
                                          const study::Study& study,
                                          const study::Store& store) {
  std::vector<scaling::Profile> profiles;
  for (int64_t repeat = 0; repeat < study.repeats; ++repeat) {
    const auto run = store.result(planned.point.id, repeat);
    if (!run || !run->failure.empty()) {
      continue;
    }
    const std::string folder =
        concat(study::own_run_folder(store.run_folder(planned.point.id, repeat)),
               "/",
               kProfiles,
               "/iteration_",
               all_steps(study));
    if (Result<scaling::Profile> profile = scaling::read_profile(folder)) {
      profiles.push_back(std::move(*profile));
    }
  }
  return profiles;
}

/// FLOP/s that all ranks together could have: ranks that share cores share their peak.
double peak_of_ranks(const scaling::Point& point, int64_t cores, double peak_of_one) {
  const auto threads = static_cast<double>(point.ranks * point.threads);
  const double at_once = std::min(threads, static_cast<double>(cores));
  return peak_of_one * at_once / static_cast<double>(point.threads);
}

Result<void> add_rates(scaling::PointResult& result,
                       const PlannedPoint& planned,
                       const study::Study& study,
                       const Peaks& peaks,
                       int64_t cores) {
  if (!result.failure.empty() || result.step_ms.empty()) {
    return {};
  }
  result.median_step_ms = scaling::median_of_repeats(
      scaling::split_repeats(result.step_ms, result.repeats), static_cast<uint64_t>(study.seed));
  const double step_s = result.median_step_ms.value / 1e3;
  const double tokens =
      static_cast<double>(result.point.global_batch_size) * static_cast<double>(planned.seq_len);
  result.tokens_per_s.value = tokens / step_s;
  if (!result.point.peer.empty()) {
    return {};
  }
  const Result<config::RunConfig> config = config_of(planned, study);
  if (!config) {
    return fail(config.error());
  }
  const auto peak = peaks.find({loop::compute_dtype(*config), result.point.threads});
  if (peak != peaks.end()) {
    const double flops = loop::model_of(*config)->flops_per_token(planned.seq_len) * tokens;
    result.mfu = flops / step_s / peak_of_ranks(result.point, cores, peak->second);
  }
  return {};
}

/// UTC of the first run that is kept; now when there is none.
std::string first_began(const study::Grid& grid,
                        const study::Study& study,
                        const study::Store& store) {
  std::string first = checkpoint::utc_time();
  for (const PlannedPoint& planned : grid.points) {
    for (int64_t repeat = 0; repeat < study.repeats; ++repeat) {
      if (const auto run = store.result(planned.point.id, repeat); run && !run->began.empty()) {
        first = std::min(first, run->began);
      }
    }
  }
  return first;
}

/// The words that two names begin with alike: "tiny dp zero 0", "tiny tp" -> "tiny".
std::string common_words(const std::string& one, const std::string& other) {
  size_t end = 0;
  for (size_t i = 0; i <= std::min(one.size(), other.size()); ++i) {
    const bool ends_one = i == one.size() || one[i] == ' ';
    const bool ends_other = i == other.size() || other[i] == ' ';
    if (ends_one && ends_other) {
      end = i;
    }
    if (i == one.size() || i == other.size() || one[i] != other[i]) {
      break;
    }
  }
  return one.substr(0, end);
}

/// The grid's series. A point of several is called by what they have in common.
void add_series(scaling::Results& results, const study::Grid& grid) {
  std::map<size_t, std::string> names;
  for (const study::PlannedSeries& series : grid.series) {
    results.series.push_back({.name = series.name, .points = series.points});
    for (const size_t point : series.points) {
      const auto [name, first] = names.emplace(point, series.name);
      if (!first) {
        name->second = common_words(name->second, series.name);
      }
    }
  }
  for (const auto& [point, name] : names) {
    if (!name.empty()) {
      results.points[point].point.series = name;
    }
  }
}

}  // namespace

Result<Peaks> measure_peaks(const study::Grid& grid, const study::Study& study, Peaks known) {
  Peaks peaks = std::move(known);
  for (const PlannedPoint& planned : grid.points) {
    if (!planned.point.peer.empty()) {
      continue;
    }
    const Result<config::RunConfig> config = config_of(planned, study);
    if (!config) {
      return fail(config.error());
    }
    const std::pair<DType, int64_t> key = {loop::compute_dtype(*config), planned.point.threads};
    if (!peaks.contains(key)) {
      peaks[key] = gemm_peak(key.first, key.second);
    }
  }
  return peaks;
}

std::vector<std::string> profile_settings(const study::Study& study) {
  return {"profiling.enable_profiling=true",
          concat("profiling.save_traces_folder=", kProfiles),
          concat("profiling.profile_freq=", all_steps(study)),
          concat("profiling.profiler_active=", study.steps)};
}

Result<scaling::Results> measured(const study::Grid& grid,
                                  const study::Study& study,
                                  const study::Store& store,
                                  const study::StudyFacts& facts,
                                  const Peaks& peaks) {
  const auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
  scaling::Results results;
  results.provenance = {.study = study.name,
                        .version = metrics::base_versions()["brigade"],
                        .config_hash = facts.hash(),
                        .machine = machine_words(cores),
                        .cores = cores,
                        .began = first_began(grid, study, store),
                        .ended = checkpoint::utc_time(),
                        .seed = static_cast<uint64_t>(study.seed)};
  results.scaling = study.scaling;
  results.warmup_steps = study.warmup_steps;
  for (const auto& [key, flops] : peaks) {
    results.peaks.push_back({std::string(to_string(key.first)), key.second, flops});
  }
  results.points = study::results_so_far(grid, study, store);
  for (size_t i = 0; i < results.points.size(); ++i) {
    scaling::add_profiles(results.points[i], profiles_of(grid.points[i], study, store));
    if (Result<void> added = add_rates(results.points[i], grid.points[i], study, peaks, cores);
        !added) {
      return fail(added.error());
    }
  }
  add_series(results, grid);
  return results;
}

}  // namespace brigade::scale
