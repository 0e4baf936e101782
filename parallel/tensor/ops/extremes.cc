// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/extremes.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/sharding/reduce_plan.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/move.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/ops/dims.h"
#include "parallel/tensor/ops/unary.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {
namespace {

using sharding::Reduction;
using torch::autograd::SavedVariable;

/// What every element is an extreme beside.
at::Scalar least_extreme(Reduction reduction, at::ScalarType dtype) {
  const bool max = reduction == Reduction::kMax;
  switch (dtype) {
    case at::kLong:
      return max ? std::numeric_limits<int64_t>::lowest() : std::numeric_limits<int64_t>::max();
    case at::kInt:
      return max ? std::numeric_limits<int32_t>::lowest() : std::numeric_limits<int32_t>::max();
    case at::kByte: return max ? 0 : 255;
    case at::kBool: return !max;
    default: break;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return max ? -kInfinity : kInfinity;
}

/// Also of a piece without elements, which libtorch refuses.
at::Tensor local_extreme(Reduction reduction,
                         const at::Tensor& x,
                         at::IntArrayRef dims,
                         bool keep_dim) {
  if (dims.empty()) {
    return x;
  }
  if (x.numel() == 0) {
    return at::sum(x, dims, keep_dim, x.scalar_type())
        .fill_(least_extreme(reduction, x.scalar_type()));
  }
  return reduction == Reduction::kMax ? at::amax(x, dims, keep_dim) : at::amin(x, dims, keep_dim);
}

/// Gives the elements that are equal to the extreme equal parts of its gradient, as libtorch's own
/// does; here equal elements may be on other ranks.
class ExtremeNode final : public OpNode {
 public:
  ExtremeNode(
      Program& program, const Planned& count, const at::Tensor& x, at::Tensor extreme, Dims dims)
      : program_(program),
        count_(count),
        x_(x, false),
        extreme_(std::move(extreme)),
        dims_(std::move(dims)) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    const at::Tensor equal = at::eq(x_.unpack(), extreme_);
    at::Tensor count = at::sum(equal, dims_, /*keepdim=*/true, at::kLong);
    for (const PlannedCast& step : count_.output.steps) {
      const Cause cause{Pass::kBackward, count_.reason, count_.op};
      count = move(program_, step.from->type, step.step, count, cause);
    }
    return {at::mul(gradients[0].reshape(extreme_.sizes()) / count, equal)};
  }

  void release_variables() override {
    x_.reset_data();
    extreme_.reset();
  }

 private:
  Program& program_;
  const Planned& count_;  // how the equal elements are counted
  SavedVariable x_;
  at::Tensor extreme_;  // with its dims kept
  Dims dims_;
};

const Planned& plan_count(const ShardedTensor& x, std::string_view op, const Dims& dims) {
  Program& program = x.program();
  return program.plan(PlanKey(op, x, dims, "equal elements"), [&] {
    const sharding::TensorType equal{DType::kBool, x.type().global, x.type().spec};
    return sharding::plan_reduce(program.mesh(),
                                 Reduction::kSum,
                                 equal,
                                 dims,
                                 /*keep_dims=*/true,
                                 std::nullopt,
                                 concat(op, ": equal elements"));
  });
}

at::Tensor with_history(const ShardedTensor& x,
                        std::string_view op,
                        const Dims& dims,
                        at::Tensor extreme) {
  at::Tensor kept = extreme.detach();
  for (const int64_t dim : dims) {
    if (kept.dim() < x.local().dim()) {
      kept = kept.unsqueeze(dim);
    }
  }
  record(make_node<ExtremeNode>(x.program(), plan_count(x, op, dims), x.local(), kept, dims),
         {x.local()},
         extreme);
  return extreme;
}

ShardedTensor extreme(std::string_view op,
                      Reduction reduction,
                      const ShardedTensor& x,
                      at::IntArrayRef dims,
                      bool keep_dim,
                      const Out& out) {
  Program& program = x.program();
  Dims gone = from_front(x, dims);
  std::sort(gone.begin(), gone.end());
  // What `out` scatters is joined first: the gradient needs the extreme beside every element.
  const Out kept = out && !out->unreduced().empty() ? out : std::nullopt;
  const Planned& planned = program.plan(PlanKey(op, x, gone, keep_dim, kept), [&] {
    return sharding::plan_reduce(program.mesh(), reduction, x.type(), gone, keep_dim, kept, op);
  });
  const auto local = [&](const at::Tensor& piece) {
    return local_extreme(reduction, piece, gone, keep_dim);
  };
  const bool gradient = needs_gradient({x.local()});
  ShardedTensor result;
  if (kept && gradient) {
    throw Exception({ErrorCode::kUsage,
                     concat(op,
                            ": out= ",
                            out->to_string(),
                            " keeps extremes unreduced, through which no gradient goes, but ",
                            x.type().to_string(program.mesh()),
                            " needs one; stop_gradient() it, or let the op join them"),
                     -1});
  }
  if (planned.output.steps.empty()) {
    result = run(planned, local, x);
  } else {
    result = run(planned, local, stop_gradient(x));
    if (gradient) {
      result = ShardedTensor(program, &result.record(), with_history(x, op, gone, result.local()));
    }
  }
  return out && !kept ? reshard(result, *out, op) : result;
}

/// The least index in the whole dim of an element that is the extreme, or NaN as it is.
at::Tensor least_candidate(
    const at::Tensor& x, const at::Tensor& extreme, int64_t dim, int64_t first, bool keep_dim) {
  std::vector<int64_t> along(static_cast<size_t>(x.dim()), 1);
  along[static_cast<size_t>(dim)] = x.size(dim);
  const at::Tensor index = at::arange(first, first + x.size(dim), at::kLong).view(along);
  const at::Tensor found = at::logical_or(at::eq(x, extreme), at::ne(x, x));
  const at::Tensor candidates =
      at::where(found, index, at::scalar_tensor(std::numeric_limits<int64_t>::max(), at::kLong));
  return local_extreme(Reduction::kMin, candidates, {dim}, keep_dim);
}

ShardedTensor index_of_extreme(
    std::string_view op, Reduction reduction, const ShardedTensor& x, int64_t dim, bool keep_dim) {
  Program& program = x.program();
  const int64_t along = from_front(x, dim);
  const Planned& planned = program.plan(PlanKey(op, x, along, keep_dim), [&] {
    return sharding::plan_index_of_extreme(program.mesh(), op, x.type(), along, keep_dim);
  });
  const ShardedTensor values = stop_gradient(x);
  if (planned.output.steps.empty()) {
    return run(
        planned,
        [&](const at::Tensor& piece) {
          return reduction == Reduction::kMax ? at::argmax(piece, along, keep_dim)
                                              : at::argmin(piece, along, keep_dim);
        },
        values);
  }
  const ShardedTensor best = extreme(op, reduction, values, {along}, /*keep_dim=*/true, {});
  const int64_t first = sharding::NamedSharding{program.mesh(), x.type().spec}
                            .box(x.type().global, program.rank())
                            .dims[static_cast<size_t>(along)]
                            .begin;
  return run(
      planned,
      [&](const at::Tensor& piece) {
        return least_candidate(piece, best.local(), along, first, keep_dim);
      },
      values);
}

}  // namespace

ShardedTensor amax(const ShardedTensor& x, at::IntArrayRef dims, bool keep_dim, const Out& out) {
  return extreme("amax", Reduction::kMax, x, dims, keep_dim, out);
}

ShardedTensor amin(const ShardedTensor& x, at::IntArrayRef dims, bool keep_dim, const Out& out) {
  return extreme("amin", Reduction::kMin, x, dims, keep_dim, out);
}

ShardedTensor argmax(const ShardedTensor& x, int64_t dim, bool keep_dim) {
  return index_of_extreme("argmax", Reduction::kMax, x, dim, keep_dim);
}

ShardedTensor argmin(const ShardedTensor& x, int64_t dim, bool keep_dim) {
  return index_of_extreme("argmin", Reduction::kMin, x, dim, keep_dim);
}

}  // namespace brigade::tensor
