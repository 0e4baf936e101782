// SPDX-License-Identifier: Apache-2.0
/// Values that are functions of an element's index in the *global* tensor, and so the same on every
/// mesh (law 5).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <ATen/Parallel.h>

#include "parallel/base/philox.h"
#include "parallel/sharding/interval.h"

namespace brigade::tensor {

/// Where random values come from: of equal sources equal values.
struct RandomSource {
  uint64_t seed = 0;
  std::string_view name;  ///< of the place that draws: "block.3.dropout"; one name, one place
  uint32_t step = 0;
};

/// The runs of a box that are contiguous in the global tensor, numbered in row-major order.
/// Trailing dims that the box has whole are part of a run.
class Runs {
 public:
  Runs(sharding::Shape global, sharding::Box box);

  int64_t count() const { return count_; }
  /// Elements of each.
  int64_t width() const { return width_; }
  /// Row-major index of the first element in the global tensor.
  int64_t start(int64_t run) const;

 private:
  sharding::Shape global_;
  sharding::Box box_;
  int64_t width_ = 1;
  int64_t count_ = 0;
};

/// Fills the box, contiguous at `out`, with values of the stream of (purpose, name).
/// `block`: (seed, index / 4, step, stream) -> std::array<Value, 4>, as philox().
template <class Value, class Block>
void fill_by_index(const Runs& runs,
                   const RandomSource& source,
                   std::string_view purpose,
                   const Block& block,
                   Value* out) {
  constexpr int64_t kLanes = 4;
  constexpr int64_t kElementsPerTask = 1 << 14;
  const uint64_t stream = random_stream(purpose, source.name);
  const int64_t grain = kElementsPerTask / std::max<int64_t>(1, runs.width()) + 1;
  at::parallel_for(0, runs.count(), grain, [&](int64_t first, int64_t last) {
    Value* next = out + first * runs.width();
    for (int64_t run = first; run < last; ++run) {
      const int64_t end = runs.start(run) + runs.width();
      for (int64_t at = end - runs.width(); at < end;) {
        const std::array<Value, kLanes> values =
            block(source.seed, static_cast<uint64_t>(at / kLanes), source.step, stream);
        for (int64_t lane = at % kLanes; lane < kLanes && at < end; ++lane, ++at) {
          *next++ = values[static_cast<size_t>(lane)];
        }
      }
    }
  });
}

}  // namespace brigade::tensor
