// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/agreement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "parallel/base/text.h"

namespace brigade::executor {
namespace {

using collective::Communicator;

template <class T, size_t n>
collective::Spans bytes_of(std::array<T, n>& values) {
  return {collective::bytes_of(std::span<T>(values))};
}

/// Each of `sums` becomes the sum over all ranks: one all-reduce.
template <size_t n>
void sum_over(Communicator& world, const std::array<ExactSum*, n>& sums) {
  std::array<int64_t, n * ExactSum::kLimbs> limbs{};
  for (size_t i = 0; i < n; ++i) {
    sums[i]->normalize();
    std::ranges::copy(sums[i]->limbs(),
                      limbs.begin() + static_cast<std::ptrdiff_t>(i * ExactSum::kLimbs));
  }
  value_or_throw(
      world.all_reduce(bytes_of(limbs), DType::kInt64, collective::ReduceOp::kSum).wait());
  for (size_t i = 0; i < n; ++i) {
    std::copy_n(limbs.begin() + static_cast<std::ptrdiff_t>(i * ExactSum::kLimbs),
                ExactSum::kLimbs,
                sums[i]->limbs().begin());
  }
}

/// The text of the rank with the least `key`, to all ranks. Keys are distinct and name their rank:
/// key % size.
std::string text_of_least(Communicator& world, int64_t key, const std::string& text) {
  std::array<int64_t, 1> least{key};
  value_or_throw(
      world.all_reduce(bytes_of(least), DType::kInt64, collective::ReduceOp::kMin).wait());
  // A fixed size, so that one broadcast does; names of parameters are far shorter.
  std::array<char, 512> letters{};
  std::copy_n(text.begin(), std::min(text.size(), letters.size() - 1), letters.begin());
  value_or_throw(
      world.broadcast(bytes_of(letters), static_cast<int>(least[0] % world.size())).wait());
  return letters.data();
}

}  // namespace

StepResult agree(Communicator& world, LocalTerms terms, int64_t trained_tokens) {
  const bool loss_is_bad = terms.loss.nonfinite_count() > 0;
  sum_over<2>(world, {&terms.loss, &terms.squares});
  StepResult result;
  result.loss = terms.loss.value() / static_cast<double>(trained_tokens);
  result.gradient_norm = std::sqrt(terms.squares.value());
  result.finite = terms.loss.nonfinite_count() == 0 && terms.squares.nonfinite_count() == 0;
  if (result.finite) {
    return result;
  }
  const int64_t rank = world.rank();
  const int64_t size = world.size();
  const int64_t nothing = std::numeric_limits<int64_t>::max() / size - 1;
  const bool gradient_is_bad = !terms.bad_gradient.empty();
  const int64_t code = loss_is_bad ? 0 : gradient_is_bad ? terms.bad_position + 1 : nothing;
  result.first_bad = text_of_least(world,
                                   code * size + rank,
                                   concat(loss_is_bad ? "loss" : terms.bad_gradient,
                                          " on rank ",
                                          world.members()[static_cast<size_t>(rank)]));
  return result;
}

double agree_on_loss(Communicator& world, ExactSum loss, int64_t trained_tokens) {
  sum_over<1>(world, {&loss});
  return loss.value() / static_cast<double>(trained_tokens);
}

}  // namespace brigade::executor
