// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/layouts.h"

#include <ostream>
#include <utility>

#include "parallel/base/text.h"

namespace brigade::end_to_end {
namespace {

/// With more than one stage each way under GPipe and 1F1B.
std::vector<Way> under_schedules(const Degrees& degrees, const std::vector<Way>& ways) {
  if (degrees.pp == 1) {
    return ways;
  }
  std::vector<Way> found;
  for (const Way& way : ways) {
    for (const char* schedule : {"GPipe", "1F1B"}) {
      found.push_back(
          {way.name + " " + schedule,
           way.settings + Settings{concat("parallelism.pipeline_parallel_schedule=", schedule)}});
    }
  }
  return found;
}

}  // namespace

const Recipe kSgdRecipe = {"SGD", {}, 1e-5};
const Recipe kAdamWRecipe = {"AdamW",
                             {"optimizer.name=AdamW",
                              "optimizer.lr=3e-3",
                              "optimizer.weight_decay=0.1",
                              "training.max_norm=1.0"},
                             1e-4};

Settings operator+(Settings left, const Settings& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

std::string Degrees::name() const {
  std::vector<std::string> parts;
  const auto part = [&](const char* axis, int64_t degree) {
    if (degree > 1) {
      parts.push_back(concat(axis, degree));
    }
  };
  part("replicate", replicate);
  part(replicate > 1 ? "shard" : "dp", shard);
  part("tp", tp);
  part("pp", pp);
  return parts.empty() ? "one" : join(parts, "_");
}

Settings Degrees::settings() const {
  return {concat("parallelism.data_parallel_replicate_degree=", replicate),
          concat("parallelism.data_parallel_shard_degree=", shard),
          concat("parallelism.tensor_parallel_degree=", tp),
          concat("parallelism.pipeline_parallel_degree=", pp)};
}

void PrintTo(const Degrees& degrees, std::ostream* out) {
  *out << degrees.name();
}

Trial trial_of(const Degrees& degrees, const Settings& settings) {
  return {.ranks = degrees.ranks(),
          .settings = Settings{"training.matmul=onednn"} + degrees.settings() + settings,
          .weights = "",
          .prepare = nullptr};
}

std::vector<Way> ways(const Degrees& degrees) {
  std::vector<Way> found;
  for (const int stage :
       degrees.shard > 1 ? std::vector<int>{0, 1, 2, 3} : std::vector<int>{0, 3}) {
    found.push_back({concat("zero", stage), {concat("parallelism.zero_stage=", stage)}});
  }
  return under_schedules(degrees, found);
}

std::vector<Way> zero_ways(const Degrees& degrees, bool deterministic) {
  std::vector<Way> found;
  for (const int stage : {0, 1, 2, 3}) {
    found.push_back({concat("zero", stage), {concat("parallelism.zero_stage=", stage)}});
  }
  found.push_back(
      {"zero3 gathered late", {"parallelism.zero_stage=3", "parallelism.fsdp_prefetch=0"}});
  found.push_back({"zero3 gathered early and kept",
                   {"parallelism.zero_stage=3",
                    "parallelism.fsdp_prefetch=2",
                    "parallelism.fsdp_reshard_after_forward=never"}});
  if (!deterministic) {
    for (const int stage : {2, 3}) {
      found.push_back(
          {concat("zero", stage, " once a step"),
           {concat("parallelism.zero_stage=", stage), "parallelism.reduce_gradients=step"}});
    }
  }
  return under_schedules(degrees, found);
}

}  // namespace brigade::end_to_end
