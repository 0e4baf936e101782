// SPDX-License-Identifier: Apache-2.0
/// All ranks of a mesh in one place, on plain doubles: runs casts forward and backward.
///
/// An independent reading of what types mean. distribute() and assemble() know the four states;
/// forward() and backward() know a cast only as "own" or "whole group", summed into boxes.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/sharding/named_sharding.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

struct Array {
  Box box;  ///< of the global tensor
  std::vector<double> data;

  explicit Array(Box of) : box(std::move(of)), data(static_cast<size_t>(box.element_count())) {}

  double& at(const std::vector<int64_t>& index) {  // global index
    size_t flat = 0;
    for (size_t dim = 0; dim < index.size(); ++dim) {
      flat = flat * static_cast<size_t>(box.dims[dim].size()) +
             static_cast<size_t>(index[dim] - box.dims[dim].begin);
    }
    return data[flat];
  }
};

using Ranks = std::vector<Array>;  ///< one array per rank

/// Calls `visit` with every index of the box.
inline void for_each_index(const Box& box,
                           const std::function<void(const std::vector<int64_t>&)>& visit) {
  if (box.element_count() == 0) {
    return;
  }
  std::vector<int64_t> index;
  for (const Interval& dim : box.dims) {
    index.push_back(dim.begin);
  }
  while (true) {
    visit(index);
    size_t dim = index.size();
    while (dim > 0 && ++index[dim - 1] == box.dims[dim - 1].end) {
      index[dim - 1] = box.dims[dim - 1].begin;
      --dim;
    }
    if (dim == 0) {
      return;
    }
  }
}

inline Box overlap(const Box& a, const Box& b) {
  Box box;
  for (size_t dim = 0; dim < a.dims.size(); ++dim) {
    const int64_t begin = std::max(a.dims[dim].begin, b.dims[dim].begin);
    box.dims.push_back({begin, std::max(begin, std::min(a.dims[dim].end, b.dims[dim].end))});
  }
  return box;
}

inline void add_overlap(Array& to, Array& from) {
  for_each_index(overlap(to.box, from.box),
                 [&](const std::vector<int64_t>& index) { to.at(index) += from.at(index); });
}

/// As add_overlap, but keeps the larger or smaller value.
inline void join_overlap(Array& to, Array& from, Reduction reduction) {
  for_each_index(overlap(to.box, from.box), [&](const std::vector<int64_t>& index) {
    double& value = to.at(index);
    value = reduction == Reduction::kMax ? std::max(value, from.at(index))
                                         : std::min(value, from.at(index));
  });
}

inline Array random_array(std::mt19937& random, const Shape& shape) {
  Array array(whole_box(shape));
  for (double& value : array.data) {
    value = static_cast<double>(static_cast<int>(random() % 9) - 4);
  }
  return array;
}

/// What the ranks hold of a tensor; unreduced terms are random but for their sum.
inline Ranks distribute(std::mt19937& random,
                        const mesh::Mesh& mesh,
                        Array global,
                        const TensorType& type) {
  const AxisNames& sums = type.spec.unreduced();
  std::vector<Array> terms;
  for (int64_t term = 1; term < mesh.axes_size(sums); ++term) {
    terms.push_back(random_array(random, type.global));
    for (size_t i = 0; i < global.data.size(); ++i) {
      global.data[i] -= terms.back().data[i];
    }
  }
  terms.push_back(std::move(global));
  const NamedSharding sharding{mesh, type.spec};
  Ranks ranks;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    ranks.emplace_back(sharding.box(type.global, rank));
    add_overlap(ranks.back(), terms[static_cast<size_t>(mesh.flattened_index(rank, sums))]);
  }
  return ranks;
}

/// The tensor that the ranks hold. Copies must be equal, boxes as typed.
inline Array assemble(const mesh::Mesh& mesh, Ranks& ranks, const TensorType& type) {
  const NamedSharding sharding{mesh, type.spec};
  AxisNames copies;
  for (const mesh::Axis& axis : mesh.axes()) {
    const AxisState state = type.spec.state(axis.name);
    if (state == AxisState::kReplicated || state == AxisState::kReduced) {
      copies.push_back(axis.name);
    }
  }
  Array global(whole_box(type.global));
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    Array& own = ranks[static_cast<size_t>(rank)];
    const int64_t first = mesh.group(rank, copies).front();
    EXPECT_EQ(own.box, sharding.box(type.global, rank));
    EXPECT_EQ(own.data, ranks[static_cast<size_t>(first)].data) << "copies differ";
    if (rank == first) {
      add_overlap(global, own);
    }
  }
  return global;
}

/// The type of a cotangent: unreduced and reduced change places.
inline TensorType dual(const TensorType& type) {
  return {type.dtype,
          type.global,
          type.spec.with_unreduced(type.spec.reduced()).with_reduced(type.spec.unreduced())};
}

inline Ranks move(const mesh::Mesh& mesh,
                  Ranks& ranks,
                  const TensorType& to,
                  const AxisNames& axes,
                  bool whole_group,
                  bool first_alone = false) {
  const NamedSharding sharding{mesh, to.spec};
  Ranks moved;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    moved.emplace_back(sharding.box(to.global, rank));
    if (first_alone && mesh.flattened_index(rank, axes) != 0) {
      continue;
    }
    for (const int64_t peer : whole_group ? mesh.group(rank, axes) : std::vector<int64_t>{rank}) {
      add_overlap(moved.back(), ranks[static_cast<size_t>(peer)]);
    }
  }
  return moved;
}

/// All-reduces or reduce-scatters terms of a maximum or minimum.
inline Ranks join_terms(const mesh::Mesh& mesh, Ranks& ranks, const CastStep& step) {
  const NamedSharding sharding{mesh, step.to.spec};
  Ranks joined;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    const std::vector<int64_t> group = mesh.group(rank, step.axes);
    joined.emplace_back(sharding.box(step.to.global, rank));
    add_overlap(joined.back(), ranks[static_cast<size_t>(group.front())]);
    for (const int64_t peer : group) {
      join_overlap(joined.back(), ranks[static_cast<size_t>(peer)], step.reduction);
    }
  }
  return joined;
}

inline Ranks forward(const mesh::Mesh& mesh, Ranks ranks, const Casts& casts) {
  for (const CastStep& step : casts) {
    const bool group = step.kind == CastKind::kGather || step.kind == CastKind::kGatherReduced ||
                       step.kind == CastKind::kAllReduce || step.kind == CastKind::kReduceScatter ||
                       step.kind == CastKind::kAllToAll || step.kind == CastKind::kPermute;
    if (step.reduction != Reduction::kSum) {
      ranks = join_terms(mesh, ranks, step);
      continue;
    }
    ranks = move(mesh, ranks, step.to, step.axes, group, step.kind == CastKind::kKeepFirst);
  }
  return ranks;
}

/// Cotangents of the last step's type back to those of `from`.
inline Ranks backward(const mesh::Mesh& mesh,
                      Ranks ranks,
                      const TensorType& from,
                      const Casts& casts) {
  for (size_t i = casts.size(); i-- > 0;) {
    const CastKind kind = casts[i].kind;
    const bool group = kind == CastKind::kSlice || kind == CastKind::kGatherReduced ||
                       kind == CastKind::kMarkReduced || kind == CastKind::kReduceScatter ||
                       kind == CastKind::kAllToAll || kind == CastKind::kPermute;
    ranks = move(mesh, ranks, dual(i == 0 ? from : casts[i - 1].to), casts[i].axes, group);
  }
  return ranks;
}

}  // namespace brigade::sharding
