// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/partition_spec.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/mutex.h"
#include "parallel/base/text.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {

struct PartitionSpec::Data {
  std::vector<Dim> dims;  // the last one is not empty
  AxisNames unreduced;    // sorted, each once
  AxisNames reduced;
  Reduction kind = Reduction::kSum;  // of no terms: a sum

  auto operator<=>(const Data&) const = default;
};

namespace {

void sort_once(AxisNames& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

// Specs are values: the table only makes equal ones share an address. It lives as long as the
// process, for specs may sit in statics.
const PartitionSpec::Data* intern(PartitionSpec::Data data) {
  static auto& mutex = *new Mutex;
  static auto& table = *new std::set<PartitionSpec::Data>;
  while (!data.dims.empty() && data.dims.back().empty()) {
    data.dims.pop_back();
  }
  sort_once(data.unreduced);
  sort_once(data.reduced);
  if (data.unreduced.empty()) {
    data.kind = Reduction::kSum;
  }
  const MutexLock lock(mutex);
  return &*table.insert(std::move(data)).first;
}

AxisNames names_of(const mesh::Mesh& mesh) {
  AxisNames names;
  for (const mesh::Axis& axis : mesh.axes()) {
    names.push_back(axis.name);
  }
  return names;
}

/// Where a spec mentions an axis, for messages.
std::vector<std::pair<std::string, std::string>> mentions(const PartitionSpec& spec) {
  std::vector<std::pair<std::string, std::string>> all;
  for (size_t dim = 0; dim < spec.dims(); ++dim) {
    for (const std::string& axis : spec.dim(dim)) {
      all.emplace_back(axis, concat("dim ", dim));
    }
  }
  for (const std::string& axis : spec.unreduced()) {
    all.emplace_back(axis, "the unreduced set");
  }
  for (const std::string& axis : spec.reduced()) {
    all.emplace_back(axis, "the reduced set");
  }
  return all;
}

}  // namespace

std::string_view to_string(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum: return "sum";
    case Reduction::kMax: return "max";
    case Reduction::kMin: return "min";
  }
  BRIGADE_CHECK(false, "unknown reduction", static_cast<int>(reduction));
}

PartitionSpec::PartitionSpec() : data_(intern({})) {}

PartitionSpec::PartitionSpec(std::vector<Dim> dims)
    : data_(intern({std::move(dims), {}, {}, Reduction::kSum})) {}

PartitionSpec PartitionSpec::with_unreduced(AxisNames axes, Reduction kind) const {
  return PartitionSpec(intern({data_->dims, std::move(axes), data_->reduced, kind}));
}

PartitionSpec PartitionSpec::with_reduced(AxisNames axes) const {
  return PartitionSpec(intern({data_->dims, data_->unreduced, std::move(axes), data_->kind}));
}

PartitionSpec PartitionSpec::with_sets_of(const PartitionSpec& other) const {
  const Data& sets = *other.data_;
  return PartitionSpec(intern({data_->dims, sets.unreduced, sets.reduced, sets.kind}));
}

PartitionSpec PartitionSpec::with_dim(size_t dim, Dim axes) const {
  Data data = *data_;
  data.dims.resize(std::max(data.dims.size(), dim + 1));
  data.dims[dim] = std::move(axes);
  return PartitionSpec(intern(std::move(data)));
}

const PartitionSpec::Dim& PartitionSpec::dim(size_t dim) const {
  static const Dim kNotSplit;
  return dim < data_->dims.size() ? data_->dims[dim] : kNotSplit;
}

size_t PartitionSpec::dims() const {
  return data_->dims.size();
}

const AxisNames& PartitionSpec::unreduced() const {
  return data_->unreduced;
}

const AxisNames& PartitionSpec::reduced() const {
  return data_->reduced;
}

Reduction PartitionSpec::unreduced_kind() const {
  return data_->kind;
}

AxisState PartitionSpec::state(std::string_view axis) const {
  const auto has = [&](const AxisNames& names) {
    return std::find(names.begin(), names.end(), axis) != names.end();
  };
  if (dim_of(axis) >= 0) {
    return AxisState::kSharded;
  }
  if (has(data_->unreduced)) {
    return AxisState::kUnreduced;
  }
  return has(data_->reduced) ? AxisState::kReduced : AxisState::kReplicated;
}

int64_t PartitionSpec::dim_of(std::string_view axis) const {
  for (size_t dim = 0; dim < data_->dims.size(); ++dim) {
    const Dim& axes = data_->dims[dim];
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) {
      return static_cast<int64_t>(dim);
    }
  }
  return -1;
}

Result<void> PartitionSpec::check(const mesh::Mesh& mesh, size_t rank) const {
  std::map<std::string, std::string> seen;
  for (const auto& [axis, where] : mentions(*this)) {
    if (!mesh.has_axis(axis)) {
      const auto near = nearest_name(axis, names_of(mesh));
      return fail_type(rule::kUnknownAxis,
                       concat("axis \"",
                              axis,
                              "\" of ",
                              where,
                              " in spec ",
                              to_string(),
                              " is not in the mesh ",
                              mesh.to_string(),
                              near ? concat("; did you mean \"", *near, "\"?") : std::string()));
    }
    const auto [first, fresh] = seen.emplace(axis, where);
    if (!fresh) {
      const bool both_dims = where.starts_with("dim") && first->second.starts_with("dim");
      return fail_type(both_dims ? rule::kAxisTwice : rule::kAxisInTwoSets,
                       concat("axis \"",
                              axis,
                              "\" (size ",
                              mesh.axis_size(axis),
                              ") is used twice in spec ",
                              to_string(),
                              ", for ",
                              first->second,
                              " and for ",
                              where));
    }
  }
  if (dims() > rank) {
    return fail_type(rule::kSpecTooLong,
                     concat("spec ",
                            to_string(),
                            " splits dim ",
                            dims() - 1,
                            " over ",
                            join(data_->dims.back()),
                            " (",
                            mesh.axes_size(data_->dims.back()),
                            " parts), but the tensor has ",
                            rank,
                            rank == 1 ? " dim" : " dims"));
  }
  return {};
}

}  // namespace brigade::sharding
