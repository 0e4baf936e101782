// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/module_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "parallel/base/text.h"

namespace brigade::zero {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

/// Of one kind of trouble, over all ranks: the first parameter, and there the lowest rank.
struct First {
  int64_t parameter = -1;
  int64_t rank = -1;

  bool exists() const { return parameter >= 0; }
};

Result<void> reduce(collective::Communicator& world,
                    std::span<int64_t> values,
                    collective::ReduceOp op) {
  return world.all_reduce({collective::bytes_of(values)}, DType::kInt64, op).wait();
}

/// The first of each kind.
Result<std::array<First, 3>> firsts(collective::Communicator& world, const StepFindings& findings) {
  std::array<int64_t, 3> codes = {findings.moved, findings.missing, findings.bad};
  for (int64_t& code : codes) {
    code = code < 0 ? kNone : code * world.size() + world.rank();
  }
  if (Result<void> done = reduce(world, codes, collective::ReduceOp::kMin); !done) {
    return fail(done.error());
  }
  std::array<First, 3> found;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] != kNone) {
      found[i] = {codes[i] / world.size(), codes[i] % world.size()};
    }
  }
  return found;
}

tl::unexpected<Error> moved(const std::string& name, int64_t rank) {
  return fail(ErrorCode::kUsage,
              concat("parameter ",
                     name,
                     " no longer is the memory that is sharded, on rank ",
                     rank,
                     "; convert, move or load the module before it is sharded"));
}

tl::unexpected<Error> missing(const std::string& name, int64_t rank) {
  return fail(ErrorCode::kUsage,
              concat("parameter ",
                     name,
                     " got no gradient on rank ",
                     rank,
                     "; use it in the loss, freeze it (requires_grad false) before the module is "
                     "sharded, or count it as zeros: StepOptions::missing_gradient"));
}

}  // namespace

Result<StepReport> agree_on_step(collective::Communicator& world,
                                 StepFindings findings,
                                 const std::vector<std::string>& names,
                                 NonFinite non_finite) {
  const auto name = [&](const First& first) { return names[static_cast<size_t>(first.parameter)]; };
  findings.squares.normalize();
  std::array<int64_t, ExactSum::kLimbs + 1> sums = {};
  std::copy_n(findings.squares.limbs().begin(), ExactSum::kLimbs, sums.begin());
  sums.back() = (findings.moved >= 0 || findings.missing >= 0) ? 1 : 0;
  if (Result<void> done = reduce(world, sums, collective::ReduceOp::kSum); !done) {
    return fail(done.error());
  }
  std::copy_n(sums.begin(), ExactSum::kLimbs, findings.squares.limbs().begin());
  StepReport report;
  report.gradient_norm = std::sqrt(findings.squares.value());
  if (sums.back() == 0 && findings.squares.nonfinite_count() == 0) {
    return report;
  }
  const Result<std::array<First, 3>> found = firsts(world, findings);
  if (!found) {
    return fail(found.error());
  }
  const auto& [first_moved, first_missing, first_bad] = *found;
  if (first_moved.exists()) {
    return moved(name(first_moved), first_moved.rank);
  }
  if (first_missing.exists()) {
    return missing(name(first_missing), first_missing.rank);
  }
  report.skipped = true;
  report.first_bad =
      concat("the gradient of ", name(first_bad), " is not finite on rank ", first_bad.rank);
  if (non_finite == NonFinite::kStop) {
    return fail(ErrorCode::kNonFinite, report.first_bad);
  }
  return report;
}

}  // namespace brigade::zero
