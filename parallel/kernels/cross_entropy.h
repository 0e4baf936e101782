// SPDX-License-Identifier: Apache-2.0
/// The pieces of a cross-entropy whose vocabulary is split over ranks.
///
/// Each rank holds `logits` [rows, local] of the global classes [first, first + local). Between
/// the pieces the caller joins the ranks' results (a maximum, two sums):
///
///   row_max(x, 0, rows, max);                  // then the maximum over ranks
///   row_sum_exp(x, max, 0, rows, sum);         // then the sum over ranks
///   pick_targets(x, targets, 0, rows, picked); // then the sum over ranks
///   loss(r) = log(sum(r)) + max(r) - picked(r), where targets(r) != kNotTrained
///   cross_entropy_gradient(x, max, sum, targets, scales, 0, rows, dlogits);
///
/// Logits and their gradient are fp32 or bf16; max, sum, picked and scales (the losses' gradients)
/// are fp32 [rows]; targets [rows] are global class ids or kNotTrained. Splitting the row range
/// over calls changes no bit. A NaN logit makes its row's sum NaN.
///
/// Thread safety: calls whose output rows are disjoint, safe.
#pragma once

#include <cstdint>

#include "parallel/kernels/element.h"

namespace brigade::kernels {

inline constexpr int64_t kNotTrained = -1;

template <Element T>
struct LocalLogits {
  const T* values;  // [rows, local], contiguous
  int64_t local;    // classes held here
  int64_t first;    // global id of the first of them
};

/// The largest logit of each row, NaN passed over or not (lanes.h); -infinity where no class is
/// held.
template <Element T>
void row_max(const LocalLogits<T>& logits, int64_t begin, int64_t end, float* max);

/// sum exp(x - max), exp in float and the sum in double, rounded once.
template <Element T>
void row_sum_exp(
    const LocalLogits<T>& logits, const float* max, int64_t begin, int64_t end, float* sum);

/// The target's logit where this rank holds it, else 0.
template <Element T>
void pick_targets(const LocalLogits<T>& logits,
                  const int64_t* targets,
                  int64_t begin,
                  int64_t end,
                  float* picked);

/// dlogits [rows, local] = (exp(x - max) / sum - [class is the target]) * scales(r); 0 in rows that
/// are not trained. dlogits may be logits.values.
template <Element T>
void cross_entropy_gradient(const LocalLogits<T>& logits,
                            const float* max,
                            const float* sum,
                            const int64_t* targets,
                            const float* scales,
                            int64_t begin,
                            int64_t end,
                            T* dlogits);

}  // namespace brigade::kernels
