// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/tensor_type.h"

#include <optional>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/scanner.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {
namespace {

constexpr DType kDTypes[] = {DType::kFloat32,
                             DType::kBFloat16,
                             DType::kFloat64,
                             DType::kInt64,
                             DType::kInt32,
                             DType::kUInt8,
                             DType::kBool};

std::string print(const TensorType& type, const AxisSets& sets) {
  std::vector<std::string> dims;
  for (size_t dim = 0; dim < type.global.size(); ++dim) {
    const AxisNames& axes = type.spec.dim(dim);
    std::string text = concat(type.global[dim]);
    if (axes.size() == 1) {
      text += concat('@', axes.front());
    } else if (!axes.empty()) {
      text += concat("@(", join(axes, ","), ')');
    }
    dims.push_back(std::move(text));
  }
  return concat(
      brigade::to_string(type.dtype), '[', join(dims, ","), ']', sharding::to_string(sets));
}

std::optional<DType> dtype_of(std::string_view name) {
  for (const DType dtype : kDTypes) {
    if (brigade::to_string(dtype) == name) {
      return dtype;
    }
  }
  return std::nullopt;
}

// Every bit of the input moves every bit of the result (the finalizer of splitmix64), so that
// sizes, which differ in few low bits, spread over any table.
uint64_t mixed(uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

/// What follows the size of a dim: `@x`, `@(x,y)` or nothing.
Result<AxisNames> parse_axes(Scanner& in) {
  AxisNames axes;
  if (!in.take('@')) {
    return axes;
  }
  const bool tuple = in.take('(');
  do {
    axes.push_back(in.word());
    if (axes.back().empty()) {
      return in.expected("the name of an axis");
    }
  } while (tuple && in.take(','));
  if (tuple && !in.take(')')) {
    return in.expected(", or )");
  }
  return axes;
}

}  // namespace

Result<TensorType> TensorType::parse(std::string_view text) {
  Scanner in(text);
  const std::optional<DType> dtype = dtype_of(in.word());
  if (!dtype) {
    in = Scanner(text);
    return in.expected("an element type (f32, bf16, f64, i64, i32, u8, bool)");
  }
  if (!in.take('[')) {
    return in.expected("[");
  }
  TensorType type{*dtype, {}, PartitionSpec()};
  std::vector<PartitionSpec::Dim> dims;
  while (!in.take(']')) {
    const std::optional<int64_t> size = in.number();
    if (!size) {
      return in.expected("the size of a dim");
    }
    Result<AxisNames> axes = parse_axes(in);
    if (!axes) {
      return fail(axes.error());
    }
    type.global.push_back(*size);
    dims.push_back(std::move(*axes));
    if (in.take(']')) {
      break;
    }
    if (!in.take(',')) {
      return in.expected(", or ]");
    }
  }
  Result<AxisSets> sets = in.axis_sets();
  if (!sets) {
    return fail(sets.error());
  }
  if (!in.at_end()) {
    return in.expected("the end");
  }
  type.spec = PartitionSpec(std::move(dims))
                  .with_unreduced(std::move(sets->unreduced), sets->kind)
                  .with_reduced(std::move(sets->reduced));
  return type;
}

Result<void> TensorType::check(const mesh::Mesh& mesh) const {
  if (Result<void> legal = spec.check(mesh, global.size()); !legal) {
    return fail_within(concat(to_string(), ": "), legal.error());
  }
  return {};
}

std::string TensorType::to_string() const {
  return print(*this, {spec.unreduced(), spec.reduced(), spec.unreduced_kind()});
}

std::string TensorType::to_string(const mesh::Mesh& mesh) const {
  return print(*this,
               {mesh.in_mesh_order(spec.unreduced()),
                mesh.in_mesh_order(spec.reduced()),
                spec.unreduced_kind()});
}

size_t TensorType::hash() const {
  uint64_t hash = mixed(spec.hash() + static_cast<size_t>(dtype));
  for (const int64_t size : global) {
    hash = mixed(hash ^ static_cast<uint64_t>(size));
  }
  return hash;
}

}  // namespace brigade::sharding
