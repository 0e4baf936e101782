// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/permute.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/sharding/named_sharding.h"

namespace brigade::sharding {
namespace {

using Dim = PartitionSpec::Dim;
using Dims = std::vector<Dim>;

/// Does an axis split both dims in the same way, whatever axes are before and behind it? Only the
/// number of parts that those before it make counts, or, of an axis of size 1, that of axes.
bool same_place(const mesh::Mesh& mesh, const Dim& a, const Dim& b, const std::string& axis) {
  const auto before = [&](const Dim& dim) {
    return std::span<const std::string>(dim.begin(), std::find(dim.begin(), dim.end(), axis));
  };
  return mesh.axis_size(axis) == 1 ? before(a).size() == before(b).size()
                                   : mesh.axes_size(before(a)) == mesh.axes_size(before(b));
}

/// What two parts have in common, of a dim split over `from` and over `to`, as a share of the
/// latter.
double common_share(const mesh::Mesh& mesh, const Dim& from, const Dim& to, int64_t rank) {
  const int64_t parts_from = mesh.axes_size(from);
  const int64_t parts_to = mesh.axes_size(to);
  const int64_t held = mesh.flattened_index(rank, from) * parts_to;
  const int64_t wanted = mesh.flattened_index(rank, to) * parts_from;
  const int64_t common = std::min(held + parts_to, wanted + parts_from) - std::max(held, wanted);
  return static_cast<double>(std::max<int64_t>(common, 0)) / static_cast<double>(parts_from);
}

class ArrangementSearch {
 public:
  ArrangementSearch(const mesh::Mesh& mesh,
                    const TensorType& from,
                    const PartitionSpec& to,
                    bool whole_boxes);

  std::optional<Arrangement> take() &&;

 private:
  /// Every way to append joining axes from position `next` on to dims.
  void join(size_t next, Dims& before);
  /// Every way to append leaving axes from position `next` of `leaving` on to the target's dims.
  void leave(const Dims& before, const AxisNames& leaving, size_t next, Dims& after);
  void weigh(const Dims& before, const Dims& after);

  /// The dims that may take an axis on; all, or `own` alone if there are too many ways.
  std::pair<size_t, size_t> choices(size_t own) const;
  bool settled(const Dims& before) const;
  bool possible(const Dims& before, const Dims& after) const;

  const mesh::Mesh& mesh_;
  const TensorType& from_;
  const PartitionSpec& to_;
  const bool whole_boxes_;
  Dims now_;
  Dims then_;
  AxisNames joining_;
  AxisNames leaving_;
  bool few_ = true;
  double least_ = 2;
  std::optional<Arrangement> best_;
};

ArrangementSearch::ArrangementSearch(const mesh::Mesh& mesh,
                                     const TensorType& from,
                                     const PartitionSpec& to,
                                     bool whole_boxes)
    : mesh_(mesh), from_(from), to_(to), whole_boxes_(whole_boxes) {
  const size_t dims = from.global.size();
  for (size_t dim = 0; dim < dims; ++dim) {
    now_.push_back(from.spec.dim(dim));
    then_.push_back(to.dim(dim));
    for (const std::string& axis : now_.back()) {
      if (to.dim_of(axis) < 0) {
        leaving_.push_back(axis);
      }
    }
    for (const std::string& axis : then_.back()) {
      if (from.spec.dim_of(axis) < 0) {
        joining_.push_back(axis);
      }
    }
  }
  constexpr double kMostWays = 4096;
  double ways = 1;
  for (size_t i = 0; i < joining_.size() + leaving_.size(); ++i) {
    ways *= static_cast<double>(dims);
  }
  for (size_t i = 2; i <= leaving_.size(); ++i) {
    ways *= static_cast<double>(i);
  }
  few_ = ways <= kMostWays;
}

std::optional<Arrangement> ArrangementSearch::take() && {
  Dims before = now_;
  join(0, before);
  return std::move(best_);
}

std::pair<size_t, size_t> ArrangementSearch::choices(size_t own) const {
  return few_ ? std::pair<size_t, size_t>(0, now_.size()) : std::pair(own, own + 1);
}

void ArrangementSearch::join(size_t next, Dims& before) {
  if (next < joining_.size()) {
    const auto [begin, end] = choices(static_cast<size_t>(to_.dim_of(joining_[next])));
    for (size_t dim = begin; dim < end; ++dim) {
      before[dim].push_back(joining_[next]);
      join(next + 1, before);
      before[dim].pop_back();
    }
    return;
  }
  if (settled(before)) {
    return;
  }
  std::vector<size_t> order(leaving_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  do {
    AxisNames leaving;
    for (const size_t index : order) {
      leaving.push_back(leaving_[index]);
    }
    Dims after = then_;
    leave(before, leaving, 0, after);
  } while (few_ && std::next_permutation(order.begin(), order.end()));
}

void ArrangementSearch::leave(const Dims& before,
                              const AxisNames& leaving,
                              size_t next,
                              Dims& after) {
  if (next == leaving.size()) {
    weigh(before, after);
    return;
  }
  const auto [begin, end] = choices(static_cast<size_t>(from_.spec.dim_of(leaving[next])));
  for (size_t dim = begin; dim < end; ++dim) {
    after[dim].push_back(leaving[next]);
    leave(before, leaving, next + 1, after);
    after[dim].pop_back();
  }
}

void ArrangementSearch::weigh(const Dims& before, const Dims& after) {
  if (!possible(before, after)) {
    return;
  }
  const double share = permuted_share(mesh_, PartitionSpec(before), PartitionSpec(after));
  constexpr double kRounding = 1e-9;  // decides nothing
  if (share < least_ - kRounding) {
    least_ = share;
    best_ = Arrangement{before, after};
  }
}

bool ArrangementSearch::settled(const Dims& before) const {
  for (size_t dim = 0; dim < before.size(); ++dim) {
    if (then_[dim].size() > before[dim].size() ||
        !std::equal(then_[dim].begin(), then_[dim].end(), before[dim].begin())) {
      return false;
    }
  }
  return true;
}

bool ArrangementSearch::possible(const Dims& before, const Dims& after) const {
  for (size_t dim = 0; dim < before.size(); ++dim) {
    const int64_t held = mesh_.axes_size(before[dim]);
    const int64_t wanted = mesh_.axes_size(after[dim]);
    if (before[dim] == after[dim]) {
      continue;
    }
    if ((whole_boxes_ && held != wanted) || from_.global[dim] % held != 0 ||
        from_.global[dim] % wanted != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

AxisNames permuted_axes(const mesh::Mesh& mesh,
                        const PartitionSpec& from,
                        const PartitionSpec& to) {
  AxisNames moved;
  for (const mesh::Axis& axis : mesh.axes()) {
    const int64_t dim = from.dim_of(axis.name);
    BRIGADE_CHECK((dim < 0) == (to.dim_of(axis.name) < 0), from.to_string(), to.to_string());
    if (dim < 0) {
      continue;
    }
    const auto at = static_cast<size_t>(dim);
    if (to.dim_of(axis.name) != dim || !same_place(mesh, from.dim(at), to.dim(at), axis.name)) {
      moved.push_back(axis.name);
    }
  }
  return moved;
}

double permuted_share(const mesh::Mesh& mesh, const PartitionSpec& from, const PartitionSpec& to) {
  const std::vector<int64_t> members = mesh.group(0, permuted_axes(mesh, from, to));
  double kept = 0;
  for (const int64_t member : members) {
    double share = 1;
    for (size_t dim = 0; dim < std::max(from.dims(), to.dims()); ++dim) {
      if (from.dim(dim) != to.dim(dim)) {
        share *= common_share(mesh, from.dim(dim), to.dim(dim), member);
      }
    }
    kept += share;
  }
  return 1 - kept / static_cast<double>(members.size());
}

int64_t permuted_elements(const mesh::Mesh& mesh,
                          const TensorType& from,
                          const CastStep& step,
                          int64_t rank) {
  const NamedSharding before{mesh, from.spec};
  const NamedSharding after{mesh, step.to.spec};
  int64_t elements = 0;
  for (const int64_t member : mesh.group(rank, step.axes)) {
    const Box wanted = after.box(from.global, member);
    elements +=
        wanted.element_count() - intersect(before.box(from.global, member), wanted).element_count();
  }
  return elements;
}

std::optional<Arrangement> find_arrangement(const mesh::Mesh& mesh,
                                            const TensorType& from,
                                            const PartitionSpec& to,
                                            bool whole_boxes) {
  return ArrangementSearch(mesh, from, to, whole_boxes).take();
}

}  // namespace brigade::sharding
