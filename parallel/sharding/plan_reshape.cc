// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/shape_plan.h"
#include "parallel/sharding/shape_rules.h"

namespace brigade::sharding {
namespace {

class ReshapePlanner {
 public:
  ReshapePlanner(const mesh::Mesh& mesh,
                 const TensorType& operand,
                 const Shape& shape,
                 const std::optional<PartitionSpec>& out)
      : mesh_(mesh), operand_(operand), shape_(shape), out_(out), axes_(shape.size()) {
    for (size_t dim = 0; dim < operand.global.size(); ++dim) {
      kept_.push_back(operand.spec.dim(dim));
    }
  }

  Result<OpPlan> plan();

 private:
  using Dims = std::vector<size_t>;  // positions of dims larger than 1

  /// An axis on the way from operand to result, and the operand's dim that it splits.
  struct Carried {
    std::string axis;
    size_t dim;
  };

  Result<void> check() const;
  /// Dims without those of size 1; one that is split cannot go.
  Result<Dims> operand_dims();
  Dims result_dims() const;
  Result<void> match(const Dims& from, const Dims& to);
  Result<void> regroup(const Dims& from, const Dims& to);
  /// Axes of a run of dims as those of the one dim that they merge into.
  Result<std::vector<Carried>> merge(const Dims& from);
  /// Hands them to the leading new dims.
  Result<void> split(const std::vector<Carried>& carried, const Dims& to);

  /// What does not line up is an error, or gathered if `out` allows: from then on `dim` keeps
  /// `keep` axes.
  Result<void> give_up(size_t dim, size_t keep, std::string_view why);
  Result<void> give_up_all(std::string_view why);
  Result<std::vector<Casts>> gathers();

  tl::unexpected<Error> error(std::string_view text) const {
    return fail(
        ErrorCode::kType,
        concat(name(), ": ", text, "; reshard it first, or say with out= how the result is split"));
  }
  std::string name() const {
    return concat("reshape of ", operand_.to_string(mesh_), " to (", join(shape_), ')');
  }
  int64_t parts(size_t dim) const { return mesh_.axes_size(operand_.spec.dim(dim)); }

  const mesh::Mesh& mesh_;
  const TensorType& operand_;
  const Shape& shape_;
  const std::optional<PartitionSpec>& out_;
  std::vector<AxisNames> axes_;  // of the result's dims
  std::vector<AxisNames> kept_;  // of the operand's dims: those not gathered
  std::string gathered_;         // why, for the ledger
  bool changed_ = false;
};

Result<OpPlan> ReshapePlanner::plan() {
  if (Result<void> legal = check(); !legal) {
    return fail(legal.error());
  }
  const Result<Dims> from = operand_dims();
  if (!from) {
    return fail(from.error());
  }
  if (Result<void> matched = match(*from, result_dims()); !matched) {
    return fail(matched.error());
  }
  Result<std::vector<Casts>> casts = gathers();
  if (!casts) {
    return fail(casts.error());
  }
  const PartitionSpec& before =
      casts->front().empty() ? operand_.spec : casts->front().back().to.spec;
  OpPlan plan = free_plan(1,
                          {operand_.dtype, shape_, carry_sets(before, axes_)},
                          concat("reshape", gathered_.empty() ? "" : ": ", gathered_));
  plan.inputs = std::move(*casts);
  return with_out(name(), mesh_, std::move(plan), out_);
}

Result<void> ReshapePlanner::check() const {
  if (Result<void> legal = check_legal("reshape", mesh_, operand_); !legal) {
    return legal;
  }
  if (out_) {
    if (Result<void> legal = out_->check(mesh_, shape_.size()); !legal) {
      return error(concat("out=: ", legal.error().text));
    }
  }
  for (const int64_t size : shape_) {
    if (size < 0) {
      return error(concat("a dim cannot be of size ", size));
    }
  }
  if (element_count(operand_.global) != element_count(shape_)) {
    return error("the numbers of elements differ");
  }
  return {};
}

Result<ReshapePlanner::Dims> ReshapePlanner::operand_dims() {
  Dims dims;
  for (size_t dim = 0; dim < operand_.global.size(); ++dim) {
    if (operand_.global[dim] != 1) {
      dims.push_back(dim);
    } else if (!operand_.spec.dim(dim).empty()) {
      Result<void> done = give_up(
          dim, 0, concat("dim ", dim, " of size 1 is split over ", join(operand_.spec.dim(dim))));
      if (!done) {
        return fail(done.error());
      }
    }
  }
  return dims;
}

ReshapePlanner::Dims ReshapePlanner::result_dims() const {
  Dims dims;
  for (size_t dim = 0; dim < shape_.size(); ++dim) {
    if (shape_[dim] != 1) {
      dims.push_back(dim);
    }
  }
  return dims;
}

// Pairs dims of equal size from the left; between them, the shortest runs with equal products.
Result<void> ReshapePlanner::match(const Dims& from, const Dims& to) {
  constexpr std::string_view kEmpty = "a dim of size 0 hides which dims correspond";
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
        return give_up_all(kEmpty);
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
  return i < from.size() || j < to.size() ? give_up_all(kEmpty) : Result<void>();
}

Result<void> ReshapePlanner::regroup(const Dims& from, const Dims& to) {
  if (from.size() == 1 && to.size() == 1) {
    axes_[to.front()] = operand_.spec.dim(from.front());
    return {};
  }
  if (!out_ && (changed_ || (from.size() > 1 && to.size() > 1))) {
    return error(
        "this reshape is not supported: it changes more than one dim split in several, or several "
        "merged into one");
  }
  changed_ = true;
  const Result<std::vector<Carried>> carried = merge(from);
  if (!carried) {
    return fail(carried.error());
  }
  return split(*carried, to);
}

Result<std::vector<ReshapePlanner::Carried>> ReshapePlanner::merge(const Dims& from) {
  size_t used = from.size();
  while (used > 0 && operand_.spec.dim(from[used - 1]).empty()) {
    --used;
  }
  std::vector<Carried> carried;
  bool aligned = true;
  for (size_t i = 0; i < used; ++i) {
    const size_t dim = from[i];
    const int64_t size = operand_.global[dim];
    const bool last = i + 1 == used;
    const bool fits = from.size() == 1 || (last ? size % parts(dim) == 0 : size == parts(dim));
    const bool carries = aligned && (fits || (out_ && size % parts(dim) == 0));
    if (!carries || !fits) {
      const std::string why =
          concat("dim ",
                 dim,
                 " of size ",
                 size,
                 " is in ",
                 parts(dim),
                 " parts; to merge with dims behind it, ",
                 last ? "its size must divide" : "it must be split to single elements");
      if (Result<void> done = give_up(dim, carries ? operand_.spec.dim(dim).size() : 0, why);
          !done) {
        return fail(done.error());
      }
    }
    for (const std::string& axis : kept_[dim]) {
      carried.push_back({axis, dim});
    }
    aligned = carries && fits;
  }
  return carried;
}

Result<void> ReshapePlanner::split(const std::vector<Carried>& carried, const Dims& to) {
  size_t at = 0;
  int64_t left = shape_[to.front()];
  bool aligned = true;
  for (const auto& [axis, dim] : carried) {
    const int64_t size = mesh_.axis_size(axis);
    while (aligned && left == 1 && size > 1 && at + 1 < to.size()) {
      left = shape_[to[++at]];
    }
    if (!aligned || left % size != 0) {
      aligned = false;
      const std::string why = concat("new dim ",
                                     to[at],
                                     " of size ",
                                     shape_[to[at]],
                                     " does not divide over ",
                                     axis,
                                     " (size ",
                                     size,
                                     "), which splits dim ",
                                     dim);
      const AxisNames& axes = kept_[dim];
      const auto keep = std::find(axes.begin(), axes.end(), axis) - axes.begin();
      if (Result<void> done = give_up(dim, static_cast<size_t>(keep), why); !done) {
        return done;
      }
      continue;
    }
    left /= size;
    axes_[to[at]].push_back(axis);
  }
  return {};
}

Result<void> ReshapePlanner::give_up(size_t dim, size_t keep, std::string_view why) {
  if (!out_) {
    return error(why);
  }
  if (keep < kept_[dim].size()) {
    kept_[dim].resize(keep);
    gathered_ = concat(why, ", so it is gathered");
  }
  return {};
}

Result<void> ReshapePlanner::give_up_all(std::string_view why) {
  axes_.assign(shape_.size(), {});
  for (size_t dim = 0; dim < kept_.size(); ++dim) {
    if (Result<void> done = give_up(dim, 0, why); !done) {
      return done;
    }
  }
  return out_ ? Result<void>() : error(why);
}

// To the copies that out= names: what it splits or leaves whole becomes replicated.
Result<std::vector<Casts>> ReshapePlanner::gathers() {
  PartitionSpec spec = carry_sets(operand_.spec, kept_);
  AxisNames reduced = spec.reduced();
  for (const mesh::Axis& axis : mesh_.axes()) {
    if (operand_.spec.state(axis.name) == AxisState::kSharded && spec.dim_of(axis.name) < 0 &&
        out_->state(axis.name) == AxisState::kReduced) {
      reduced.push_back(axis.name);
    }
  }
  Result<Casts> casts = plan_reshard(mesh_, operand_, spec.with_reduced(std::move(reduced)));
  if (!casts) {
    return fail(casts.error());
  }
  return std::vector<Casts>{std::move(*casts)};
}

}  // namespace

Result<OpPlan> plan_reshape(const mesh::Mesh& mesh,
                            const TensorType& operand,
                            const Shape& shape,
                            const std::optional<PartitionSpec>& out) {
  return ReshapePlanner(mesh, operand, shape, out).plan();
}

}  // namespace brigade::sharding
