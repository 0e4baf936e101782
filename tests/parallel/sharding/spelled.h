// SPDX-License-Identifier: Apache-2.0
/// Meshes, types and plans as short text, for tests: mesh_of("x2,y2"), type("f32[8@x,2]").
#pragma once

#include <sstream>
#include <string>

#include "parallel/base/text.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"
#include "parallel/sharding/tensor_type.h"

namespace brigade::sharding {

/// "x2,y4": one-letter names, each with its size.
inline mesh::Mesh mesh_of(const std::string& text) {
  std::vector<mesh::Axis> axes;
  std::istringstream in(text);
  for (std::string axis; std::getline(in, axis, ',');) {
    axes.push_back({axis.substr(0, 1), std::stoll(axis.substr(1))});
  }
  return value_or_throw(mesh::Mesh::create(std::move(axes)));
}

/// "8@x,2{U:y}" as an f32 type.
inline TensorType type(const std::string& text) {
  const size_t sets = text.find('{');
  const std::string dims = text.substr(0, sets);
  return value_or_throw(TensorType::parse(
      concat("f32[", dims, ']', sets == std::string::npos ? "" : text.substr(sets))));
}

/// The spec of a type.
inline PartitionSpec spec(const std::string& text) {
  return type(text).spec;
}

/// Back again: without the element type.
inline std::string text_of(const TensorType& type, const mesh::Mesh& mesh) {
  const std::string text = type.to_string(mesh);
  const size_t open = text.find('[');
  const size_t close = text.find(']');
  return text.substr(open + 1, close - open - 1) + text.substr(close + 1);
}

/// "gather x 0; all_to_all y 0>1; all_reduce max x": kind, reduction unless a sum, axes, dims.
inline std::string steps_of(const Casts& casts) {
  std::vector<std::string> steps;
  for (const CastStep& step : casts) {
    steps.push_back(concat(to_string(step.kind),
                           step.reduction == Reduction::kSum ? "" : " ",
                           step.reduction == Reduction::kSum ? "" : to_string(step.reduction),
                           ' ',
                           join(step.axes, ","),
                           step.dim < 0 ? "" : concat(' ', step.dim),
                           step.to_dim < 0 ? "" : concat('>', step.to_dim)));
  }
  return join(steps, "; ");
}

/// "<casts of operand 0> | <casts of operand 1> -> <local result> -> <output casts>", or the error.
inline std::string text_of(const Result<OpPlan>& plan, const mesh::Mesh& mesh) {
  if (!plan) {
    return concat("! ", plan.error().text);
  }
  std::vector<std::string> inputs;
  for (const Casts& casts : plan->inputs) {
    inputs.push_back(casts.empty() ? "-" : steps_of(casts));
  }
  return concat(join(inputs, " | "),
                " -> ",
                text_of(plan->local_result, mesh),
                plan->output.empty() ? "" : concat(" -> ", steps_of(plan->output)));
}

}  // namespace brigade::sharding
