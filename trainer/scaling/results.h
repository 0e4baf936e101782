// SPDX-License-Identifier: Apache-2.0
/// What a scaling study found: the values that measuring fills, fitting reads and the page shows.
///
///   for (const Series& series : results.series) print(series.name, series.fits);
///
/// Times are in milliseconds, sizes in bytes. Plain values; thread safety: that of any value.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brigade::scaling {

enum class Scaling : uint8_t {
  kStrong,            ///< the global batch and the model stay as they are
  kWeak,              ///< the global batch grows with the ranks
  kMemoryConstrained  ///< the model grows as far as a rank's memory allows
};

std::string_view to_string(Scaling scaling);  ///< "strong", "weak", "memory_constrained"

/// One thing to run. `id` is unique in its study and names its folder.
struct Point {
  std::string id = "";      ///< "tiny-dp-r2-z0-1F1B-mb4"
  std::string series = "";  ///< "tiny dp zero 0": what points that differ by ranks alone share
  std::string peer = "";    ///< who else is measured; "" for brigade itself
  int64_t ranks = 1;
  int64_t threads = 1;    ///< of each rank
  std::string mesh = "";  ///< "pp=1 x dp_replicate=1 x dp_shard=2 x tp=1"
  int64_t zero_stage = 0;
  std::string schedule = "";
  int64_t microbatch_size = 1;
  int64_t global_batch_size = 1;  ///< sequences a step
  std::string model = "";         ///< "llama3 tiny"
  bool oversubscribed = false;    ///< ranks x threads is more than the cores of this machine
};

struct Interval {
  double low = 0;
  double high = 0;
};

/// A value and its 95 % interval.
struct Estimate {
  double value = 0;
  Interval interval = {};
};

/// Where a step's time goes. Exposed: the rank could do nothing else meanwhile.
enum class Part : uint8_t {
  kCompute,    ///< forward and backward
  kTensor,     ///< exposed communication along the tensor axis
  kData,       ///< exposed sums of gradients over the data axes
  kZero,       ///< exposed gathers of weights over the data axes
  kPipeline,   ///< exposed transfer of activations between stages
  kBubble,     ///< waiting for another stage to have something to send
  kOptimizer,  ///< norm, clipping, update
  kLoading,    ///< cutting the step's samples
  kIdle        ///< the rest, and waiting for slower ranks
};
inline constexpr size_t kParts = 9;
std::string_view to_string(Part part);  ///< "exposed tensor"

/// Milliseconds by part; they add up to the step.
using Breakdown = std::array<double, kParts>;

/// A stretch of one rank's time, counted from the step's first beginning on any rank.
struct Stretch {
  Part part = Part::kIdle;
  double begin_ms = 0;
  double end_ms = 0;
  int64_t microbatch = -1;
  std::string label = "";  ///< "forward", "all_gather dp_shard 1.2 MiB"
};

struct PointResult {
  Point point = {};
  std::string failure = "";                  ///< "" when it ran; else what went wrong, in one line
  std::vector<std::string> last_lines = {};  ///< of a failed point
  int64_t repeats = 0;
  std::vector<double> step_ms = {};  ///< each kept step of each repeat
  Estimate median_step_ms = {};
  Estimate tokens_per_s = {};      ///< of all ranks
  std::optional<double> mfu = {};  ///< share of the measured peak of all ranks; none for a peer
  std::vector<int64_t> peak_bytes = {};               ///< resident, by rank
  std::map<std::string, int64_t> bytes_by_axis = {};  ///< a step, all ranks, from the ledger
  std::vector<Breakdown> breakdown_by_rank = {};      ///< empty when not recorded
  std::vector<std::vector<Stretch>> one_step = {};    ///< by rank; empty when not recorded

  Breakdown breakdown() const;  ///< mean over ranks; zeros when not recorded
};

/// A number that a fit found.
struct Parameter {
  std::string name = "";  ///< "f", "sigma"
  Estimate estimate = {};
};

struct Fit {
  std::string law = "";      ///< "Amdahl"
  std::string formula = "";  ///< "T(N) = T1 ((1 - f) / N + f)"
  std::vector<Parameter> parameters = {};
  double aicc = 0;
  double held_out_error = 0;  ///< relative, median over leaving each size out in turn
  std::string why_not = "";   ///< "" when identifiable; else "not identifiable: 2 sizes, needs 5"
  std::vector<std::pair<double, double>> curve = {};  ///< N and predicted ms, to 4 x the largest N
};

struct KarpFlatt {
  int64_t ranks = 0;
  double serial_fraction = 0;
};

/// Compute over exposed communication along one axis, and where they would be equal.
struct Ratio {
  std::string axis = "";  ///< "tensor", "data", "zero", "pipeline"
  std::vector<std::pair<int64_t, double>> by_ranks = {};
  std::optional<double> equal_at = {};  ///< N where the ratio is 1, if within 4 x the largest
};

/// Points that differ by ranks alone, the fewest ranks first.
struct Series {
  std::string name = "";
  std::vector<size_t> points = {};  ///< indices into Results::points; failed ones are left out
  int64_t base_ranks = 1;           ///< speed-up and efficiency are counted from here
  std::vector<Fit> fits = {};
  std::vector<KarpFlatt> karp_flatt = {};
  std::vector<Ratio> ratios = {};
  std::optional<double> serial_fraction_of_timeline = {};
};

/// What one core-group of this machine reaches in a large matrix product, in this study.
struct Peak {
  std::string dtype = "";
  int64_t threads = 1;
  double flops_per_s = 0;
};

struct Provenance {
  std::string study = "";    ///< its name
  std::string version = "";  ///< of brigade
  std::string config_hash = "";
  std::string machine = "";  ///< "2 cores, AMD EPYC ..., 24.0 GiB"
  int64_t cores = 1;
  std::string began = "";  ///< UTC, "2026-11-30 10:12:00"
  std::string ended = "";
  uint64_t seed = 0;
};

struct Results {
  Provenance provenance = {};
  Scaling scaling = Scaling::kStrong;
  int64_t warmup_steps = 0;
  std::vector<Peak> peaks = {};
  std::vector<PointResult> points = {};
  std::vector<Series> series = {};
};

}  // namespace brigade::scaling
