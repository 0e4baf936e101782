// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/shape_plan.h"

namespace brigade::sharding {
namespace {

class ReshapePlanner {
 public:
  ReshapePlanner(const mesh::Mesh& mesh, const TensorType& operand, const Shape& shape)
      : mesh_(mesh), operand_(operand), shape_(shape), axes_(shape.size()) {}

  Result<OpPlan> plan();

 private:
  using Dims = std::vector<size_t>;  // positions of dims larger than 1

  /// Dims without those of size 1; one that is split cannot go.
  Result<Dims> operand_dims() const;
  Result<void> match(const Dims& from, const Dims& to);
  Result<void> regroup(const Dims& from, const Dims& to);
  Result<void> split(size_t from, const Dims& to);
  Result<void> merge(const Dims& from, size_t to);
  tl::unexpected<Error> error(std::string_view text) const {
    return fail(ErrorCode::kType,
                concat("reshape of ",
                       operand_.to_string(mesh_),
                       " to (",
                       join(shape_),
                       "): ",
                       text,
                       "; reshard it first"));
  }
  int64_t parts(size_t dim) const { return mesh_.axes_size(operand_.spec.dim(dim)); }

  const mesh::Mesh& mesh_;
  const TensorType& operand_;
  const Shape& shape_;
  std::vector<AxisNames> axes_;
  bool changed_ = false;
};

Result<ReshapePlanner::Dims> ReshapePlanner::operand_dims() const {
  Dims dims;
  for (size_t dim = 0; dim < operand_.global.size(); ++dim) {
    if (operand_.global[dim] != 1) {
      dims.push_back(dim);
    } else if (!operand_.spec.dim(dim).empty()) {
      return error(concat("dim ", dim, " of size 1 is split over ", join(operand_.spec.dim(dim))));
    }
  }
  return dims;
}

Result<OpPlan> ReshapePlanner::plan() {
  if (Result<void> legal = operand_.spec.check(mesh_, operand_.global.size()); !legal) {
    return error(legal.error().text);
  }
  if (element_count(operand_.global) != element_count(shape_)) {
    return error("the numbers of elements differ");
  }
  const Result<Dims> from = operand_dims();
  if (!from) {
    return fail(from.error());
  }
  Dims to;
  for (size_t dim = 0; dim < shape_.size(); ++dim) {
    if (shape_[dim] != 1) {
      to.push_back(dim);
    }
  }
  if (Result<void> matched = match(*from, to); !matched) {
    return fail(matched.error());
  }
  OpPlan plan;
  plan.inputs.resize(1);
  plan.local_result = {operand_.dtype, shape_, PartitionSpec(axes_).with_sets_of(operand_.spec)};
  plan.reason = "reshape";
  return plan;
}

// Pairs dims of equal size from the left; between them, the shortest runs with equal products.
Result<void> ReshapePlanner::match(const Dims& from, const Dims& to) {
  size_t i = 0;
  size_t j = 0;
  while (i < from.size() && j < to.size()) {
    Dims run_from = {from[i++]};
    Dims run_to = {to[j++]};
    int64_t product_from = operand_.global[run_from.front()];
    int64_t product_to = shape_[run_to.front()];
    while (product_from != product_to) {
      const bool take_from = product_from < product_to ? i < from.size() : j >= to.size();
      if (i >= from.size() && j >= to.size()) {
        return error("a dim of size 0 hides which dims correspond");
      }
      if (take_from) {
        product_from *= operand_.global[from[i]];
        run_from.push_back(from[i++]);
      } else {
        product_to *= shape_[to[j]];
        run_to.push_back(to[j++]);
      }
    }
    if (Result<void> done = regroup(run_from, run_to); !done) {
      return done;
    }
  }
  if (i < from.size() || j < to.size()) {
    return error("a dim of size 0 hides which dims correspond");
  }
  return {};
}

Result<void> ReshapePlanner::regroup(const Dims& from, const Dims& to) {
  if (from.size() == 1 && to.size() == 1) {
    axes_[to.front()] = operand_.spec.dim(from.front());
    return {};
  }
  if (changed_ || (from.size() > 1 && to.size() > 1)) {
    return error(
        "this reshape is not supported: it changes more than one dim split in several, or several "
        "merged into one");
  }
  changed_ = true;
  return from.size() == 1 ? split(from.front(), to) : merge(from, to.front());
}

Result<void> ReshapePlanner::split(size_t from, const Dims& to) {
  size_t at = 0;
  int64_t left = shape_[to.front()];
  for (const std::string& axis : operand_.spec.dim(from)) {
    const int64_t size = mesh_.axis_size(axis);
    while (left == 1 && size > 1 && at + 1 < to.size()) {
      left = shape_[to[++at]];
    }
    if (left % size != 0) {
      return error(concat("new dim ",
                          to[at],
                          " of size ",
                          shape_[to[at]],
                          " does not divide over ",
                          axis,
                          " (size ",
                          size,
                          "), which splits dim ",
                          from));
    }
    left /= size;
    axes_[to[at]].push_back(axis);
  }
  return {};
}

Result<void> ReshapePlanner::merge(const Dims& from, size_t to) {
  size_t used = from.size();
  while (used > 0 && operand_.spec.dim(from[used - 1]).empty()) {
    --used;
  }
  for (size_t i = 0; i < used; ++i) {
    const size_t dim = from[i];
    const int64_t size = operand_.global[dim];
    if (i + 1 < used ? parts(dim) != size : size % parts(dim) != 0) {
      return error(
          concat("dim ",
                 dim,
                 " of size ",
                 size,
                 " is in ",
                 parts(dim),
                 " parts; to merge with dims behind it, ",
                 i + 1 < used ? "it must be split to single elements" : "its size must divide"));
    }
    const AxisNames& axes = operand_.spec.dim(dim);
    axes_[to].insert(axes_[to].end(), axes.begin(), axes.end());
  }
  return {};
}

}  // namespace

Result<OpPlan> plan_reshape(const mesh::Mesh& mesh, const TensorType& operand, const Shape& shape) {
  return ReshapePlanner(mesh, operand, shape).plan();
}

}  // namespace brigade::sharding
