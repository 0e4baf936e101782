// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/placement.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::zero {
namespace {

using sharding::NamedSharding;
using sharding::ParameterFacts;
using sharding::PartitionSpec;

/// "dim 0 (vocab)".
std::string dim_text(const ParameterFacts& facts, size_t dim) {
  return concat("dim ", dim, " (", facts.logical_axes[dim], ")");
}

/// The axes that the rules give each dim.
Result<std::vector<PartitionSpec::Dim>> split_dims(const ParameterFacts& facts,
                                                   const AxisRules& rules) {
  if (facts.logical_axes.size() != facts.shape.size()) {
    return fail(ErrorCode::kUsage,
                concat("parameter ",
                       facts.name,
                       ": one logical axis per dim expected, found ",
                       facts.logical_axes.size(),
                       " for ",
                       facts.shape.size(),
                       " dims"));
  }
  std::vector<PartitionSpec::Dim> dims(facts.shape.size());
  std::map<std::string, size_t> split_by;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    const auto rule = rules.find(facts.logical_axes[dim]);
    if (rule == rules.end()) {
      continue;
    }
    for (const std::string& axis : rule->second) {
      const auto [earlier, is_new] = split_by.emplace(axis, dim);
      if (!is_new) {
        return fail(ErrorCode::kUsage,
                    concat("parameter ",
                           facts.name,
                           ": mesh axis \"",
                           axis,
                           "\" would split ",
                           dim_text(facts, earlier->second),
                           " and ",
                           dim_text(facts, dim),
                           "; give one of these logical axes another rule"));
      }
    }
    dims[dim] = rule->second;
  }
  return dims;
}

/// The axes over which the rules let each rank use it for a part of the tokens, each once.
mesh::AxisNames part_axes(const ParameterFacts& facts, const AxisRules& parts) {
  mesh::AxisNames axes;
  for (const std::string& logical : facts.logical_axes) {
    const auto rule = parts.find(logical);
    for (const std::string& axis : rule == parts.end() ? mesh::AxisNames() : rule->second) {
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) {
        axes.push_back(axis);
      }
    }
  }
  return axes;
}

/// `axes`: those over which the parameter is to be Reduced.
Result<void> check_reduced_axes(const ParameterFacts& facts,
                                const std::vector<PartitionSpec::Dim>& dims,
                                const mesh::AxisNames& axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::string& axis = axes[i];
    const auto here = axes.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(axes.begin(), here, axis) != here) {
      return fail(ErrorCode::kUsage, concat("data axis \"", axis, "\" is listed twice"));
    }
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      if (std::find(dims[dim].begin(), dims[dim].end(), axis) != dims[dim].end()) {
        return fail(ErrorCode::kUsage,
                    concat("parameter ",
                           facts.name,
                           ": mesh axis \"",
                           axis,
                           "\" shares out data or tokens and cannot split ",
                           dim_text(facts, dim),
                           " as well"));
      }
    }
  }
  return {};
}

Result<NamedSharding> on_mesh(const mesh::Mesh& mesh,
                              const PartitionSpec& spec,
                              const ParameterFacts& facts) {
  Result<NamedSharding> sharding = NamedSharding::create(mesh, spec);
  if (!sharding) {
    Error error = sharding.error();
    error.text = concat("parameter ", facts.name, ": ", error.text);
    return fail(std::move(error));
  }
  return sharding;
}

}  // namespace

sharding::Interval Placement::shard_rows(const sharding::Shape& global,
                                         int64_t rank,
                                         int64_t member) const {
  const mesh::Mesh& mesh = used.mesh;
  const int64_t members = mesh.axes_size(shard_axes);
  BRIGADE_CHECK(member >= 0 && member < members, member, members);
  const int64_t size = global.empty() ? 1 : global[0];
  const mesh::AxisNames& major = used.spec.dim(0);
  const int64_t parts = mesh.axes_size(major);
  const int64_t part = mesh.flattened_index(rank, major);
  const int64_t start = sharding::interval(size, part, parts).begin;
  const sharding::Interval rows =
      sharding::interval(size, part * members + member, parts * members);
  return {rows.begin - start, rows.end - start};
}

bool Placement::is_first_copy(int64_t rank) const {
  const mesh::Mesh& mesh = used.mesh;
  return std::all_of(mesh.axes().begin(), mesh.axes().end(), [&](const mesh::Axis& axis) {
    const bool splits =
        shard.spec.dim_of(axis.name) >= 0 ||
        std::find(shard_axes.begin(), shard_axes.end(), axis.name) != shard_axes.end();
    return splits || mesh.coordinate(rank, axis.name) == 0;
  });
}

Result<Placement> place(const mesh::Mesh& mesh,
                        const ParameterFacts& facts,
                        const AxisRules& rules,
                        const DataAxes& data,
                        const AxisRules& parts) {
  Result<std::vector<PartitionSpec::Dim>> dims = split_dims(facts, rules);
  if (!dims) {
    return fail(dims.error());
  }
  mesh::AxisNames summed = data.replicate;
  const mesh::AxisNames by_parts = part_axes(facts, parts);
  summed.insert(summed.end(), by_parts.begin(), by_parts.end());
  mesh::AxisNames reduced = summed;
  reduced.insert(reduced.end(), data.shard.begin(), data.shard.end());
  if (Result<void> distinct = check_reduced_axes(facts, *dims, reduced); !distinct) {
    return fail(distinct.error());
  }
  const PartitionSpec split{*dims};
  Result<NamedSharding> used = on_mesh(mesh, split.with_reduced(reduced), facts);
  if (!used) {
    return fail(used.error());
  }
  PartitionSpec finer = used->spec;
  if (!facts.shape.empty()) {
    PartitionSpec::Dim rows = split.dim(0);
    rows.insert(rows.end(), data.shard.begin(), data.shard.end());
    finer = split.with_dim(0, std::move(rows)).with_reduced(summed);
  }
  Result<NamedSharding> shard = on_mesh(mesh, finer, facts);
  if (!shard) {
    return fail(shard.error());
  }
  std::erase_if(summed, [&](const std::string& axis) { return mesh.axis_size(axis) == 1; });
  return Placement{
      *std::move(used), *std::move(shard), data.shard, mesh.in_mesh_order(std::move(summed))};
}

}  // namespace brigade::zero
