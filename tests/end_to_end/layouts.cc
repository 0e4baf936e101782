// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/layouts.h"

#include <ostream>
#include <utility>

#include "parallel/base/text.h"

namespace brigade::end_to_end {

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
  for (const int stage : {0, 1}) {
    const std::string zero = concat("parallelism.zero_stage=", stage);
    if (degrees.pp == 1) {
      found.push_back({concat("zero", stage), {zero}});
      continue;
    }
    for (const char* schedule : {"GPipe", "1F1B"}) {
      found.push_back({concat("zero", stage, " ", schedule),
                       {zero, concat("parallelism.pipeline_parallel_schedule=", schedule)}});
    }
  }
  return found;
}

}  // namespace brigade::end_to_end
