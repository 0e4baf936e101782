// SPDX-License-Identifier: Apache-2.0
#include "parallel/mesh/mesh.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <ostream>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::mesh {
namespace {

constexpr int64_t kMostRanks = std::numeric_limits<int32_t>::max();

std::string axes_text(const std::vector<Axis>& axes) {
  std::vector<std::string> parts;
  for (const Axis& axis : axes) {
    parts.push_back(concat(axis.name, '=', axis.size));
  }
  return join(parts, " x ");
}

// Types are printed and read back, so a name must not contain what separates names.
bool is_identifier(std::string_view name) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(), is_word);
}

Result<void> check_axis(const std::vector<Axis>& axes, size_t position) {
  const Axis& axis = axes[position];
  if (axis.name.empty()) {
    return fail(ErrorCode::kUsage,
                concat("axis ", position, " of a mesh has no name: ", axes_text(axes)));
  }
  if (!is_identifier(axis.name)) {
    return fail(
        ErrorCode::kUsage,
        concat("the name of a mesh axis is letters, digits and _, not starting with a digit; axis ",
               position,
               " is \"",
               axis.name,
               '"'));
  }
  if (axis.size < 1) {
    return fail(ErrorCode::kUsage,
                concat("axis \"",
                       axis.name,
                       "\" of a mesh has size ",
                       axis.size,
                       ", expected at least 1: ",
                       axes_text(axes)));
  }
  for (size_t other = 0; other < position; ++other) {
    if (axes[other].name == axis.name) {
      return fail(ErrorCode::kUsage,
                  concat("axis \"", axis.name, "\" is in a mesh twice: ", axes_text(axes)));
    }
  }
  return {};
}

}  // namespace

Result<Mesh> Mesh::create(std::vector<Axis> axes) {
  Mesh mesh;
  for (size_t position = 0; position < axes.size(); ++position) {
    if (Result<void> legal = check_axis(axes, position); !legal) {
      return fail(legal.error());
    }
    if (axes[position].size > kMostRanks / mesh.size_) {
      return fail(
          ErrorCode::kUsage,
          concat("a mesh has at most ", with_thousands(kMostRanks), " ranks: ", axes_text(axes)));
    }
    mesh.size_ *= axes[position].size;
  }
  mesh.strides_.resize(axes.size());
  int64_t stride = 1;
  for (size_t position = axes.size(); position-- > 0;) {
    mesh.strides_[position] = stride;
    stride *= axes[position].size;
  }
  mesh.axes_ = std::move(axes);
  return mesh;
}

bool Mesh::has_axis(std::string_view name) const {
  return std::any_of(
      axes_.begin(), axes_.end(), [&](const Axis& axis) { return axis.name == name; });
}

int64_t Mesh::position(std::string_view name) const {
  const auto found =
      std::find_if(axes_.begin(), axes_.end(), [&](const Axis& axis) { return axis.name == name; });
  BRIGADE_CHECK(found != axes_.end(), name, to_string());
  return found - axes_.begin();
}

int64_t Mesh::axis_size(std::string_view name) const {
  return axes_[static_cast<size_t>(position(name))].size;
}

int64_t Mesh::axes_size(std::span<const std::string> names) const {
  int64_t product = 1;
  for (const std::string& name : names) {
    product *= axis_size(name);
  }
  return product;
}

std::vector<int64_t> Mesh::coordinates(int64_t rank) const {
  BRIGADE_CHECK(0 <= rank && rank < size_, rank, size_);
  std::vector<int64_t> coordinates(axes_.size());
  for (size_t position = 0; position < axes_.size(); ++position) {
    coordinates[position] = rank / strides_[position] % axes_[position].size;
  }
  return coordinates;
}

int64_t Mesh::rank_at(std::span<const int64_t> coordinates) const {
  BRIGADE_CHECK(coordinates.size() == axes_.size(), coordinates.size(), axes_.size());
  int64_t rank = 0;
  for (size_t position = 0; position < axes_.size(); ++position) {
    const int64_t coordinate = coordinates[position];
    BRIGADE_CHECK(0 <= coordinate && coordinate < axes_[position].size, coordinate, position);
    rank += coordinate * strides_[position];
  }
  return rank;
}

int64_t Mesh::coordinate(int64_t rank, std::string_view axis) const {
  BRIGADE_CHECK(0 <= rank && rank < size_, rank, size_);
  const auto at = static_cast<size_t>(position(axis));
  return rank / strides_[at] % axes_[at].size;
}

int64_t Mesh::flattened_index(int64_t rank, std::span<const std::string> names) const {
  int64_t index = 0;
  for (const std::string& name : names) {
    index = index * axis_size(name) + coordinate(rank, name);
  }
  return index;
}

std::vector<int64_t> Mesh::group(int64_t rank, std::span<const std::string> names) const {
  int64_t first = rank;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto rest = names.subspan(i + 1);
    BRIGADE_CHECK(std::find(rest.begin(), rest.end(), names[i]) == rest.end(), names[i]);
    first -= coordinate(rank, names[i]) * strides_[static_cast<size_t>(position(names[i]))];
  }
  std::vector<int64_t> members = {first};
  for (const std::string& name : names) {
    const auto at = static_cast<size_t>(position(name));
    std::vector<int64_t> finer;
    finer.reserve(members.size() * static_cast<size_t>(axes_[at].size));
    for (const int64_t member : members) {
      for (int64_t coordinate = 0; coordinate < axes_[at].size; ++coordinate) {
        finer.push_back(member + coordinate * strides_[at]);
      }
    }
    members = std::move(finer);
  }
  return members;
}

AxisNames Mesh::in_mesh_order(AxisNames names) const {
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return position(a) < position(b);
  });
  return names;
}

Mesh Mesh::sub_mesh(std::span<const std::string> names) const {
  std::vector<Axis> axes;
  for (const std::string& name : in_mesh_order({names.begin(), names.end()})) {
    axes.push_back({name, axis_size(name)});
  }
  return value_or_throw(create(std::move(axes)));
}

std::string Mesh::to_string() const {
  return axes_.empty() ? "(no axes)" : axes_text(axes_);
}

}  // namespace brigade::mesh
