// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/initialize.h"

#include <array>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include "parallel/base/check.h"
#include "parallel/base/philox.h"

namespace brigade::zero {
namespace {

using sharding::Box;
using sharding::Shape;

/// Row-major index in a tensor of shape `global` of the box's run `run`, a run being what is
/// contiguous in both: the last dim's interval.
int64_t global_start(const Shape& global, const Box& box, int64_t run) {
  int64_t index = 0;
  int64_t stride = 1;
  for (size_t dim = global.size(); dim-- > 0;) {
    const sharding::Interval& interval = box.dims[dim];
    if (dim + 1 == global.size()) {
      index += interval.begin;
    } else {
      index += (interval.begin + run % interval.size()) * stride;
      run /= interval.size();
    }
    stride *= global[dim];
  }
  return index;
}

/// Elements [start, start + count) of a stream of standard normal values, times `deviation`.
void fill_run(
    uint64_t seed, uint64_t stream, double deviation, int64_t start, int64_t count, float* values) {
  int64_t done = 0;
  while (done < count) {
    const int64_t at = start + done;
    const std::array<float, 4> block =
        normal_block(seed, static_cast<uint64_t>(at) / 4, /*step=*/0, stream);
    for (int64_t lane = at % 4; lane < 4 && done < count; ++lane, ++done) {
      values[done] =
          static_cast<float>(static_cast<double>(block[static_cast<size_t>(lane)]) * deviation);
    }
  }
}

void fill_normal(const sharding::ParameterFacts& facts,
                 const Box& box,
                 uint64_t seed,
                 float* values) {
  const uint64_t stream = random_stream("init", facts.tied_to.empty() ? facts.name : facts.tied_to);
  const double deviation = facts.initializer.standard_deviation;
  const int64_t width = box.dims.empty() ? 1 : box.dims.back().size();
  const int64_t runs = box.element_count() / width;
  constexpr int64_t kElementsPerTask = 1 << 14;
  at::parallel_for(0, runs, kElementsPerTask / width + 1, [&](int64_t first, int64_t last) {
    for (int64_t run = first; run < last; ++run) {
      fill_run(seed,
               stream,
               deviation,
               global_start(facts.shape, box, run),
               width,
               values + run * width);
    }
  });
}

}  // namespace

void initialize(const sharding::ParameterFacts& facts,
                const Box& box,
                uint64_t seed,
                const at::Tensor& out) {
  BRIGADE_CHECK(out.is_contiguous() && out.numel() == box.element_count(), facts.name, out.sizes());
  const c10::NoGradGuard no_history;
  switch (facts.initializer.kind) {
    case sharding::Initializer::Kind::kZeros: out.zero_(); return;
    case sharding::Initializer::Kind::kOnes: out.fill_(1); return;
    case sharding::Initializer::Kind::kNormal: break;
  }
  if (out.numel() == 0) {
    return;
  }
  const bool direct = out.scalar_type() == at::kFloat && out.is_cpu();
  const at::Tensor values = direct ? out : at::empty(out.sizes(), at::kFloat);
  fill_normal(facts, box, seed, values.data_ptr<float>());
  if (!direct) {
    out.copy_(values);
  }
}

}  // namespace brigade::zero
