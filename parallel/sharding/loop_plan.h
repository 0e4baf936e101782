// SPDX-License-Identifier: Apache-2.0
/// Checks of loops: what a turn hands on has the type of what it was given.
///
/// A carry whose type changed would make turns differ in their collectives, and the loop's result
/// depend on how often it turned.
#pragma once

#include <cstdint>
#include <string_view>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/tensor_type.h"

namespace brigade::sharding {

/// Errors: kType naming loop, turn and both types.
Result<void> check_carry(std::string_view loop,
                         const mesh::Mesh& mesh,
                         int64_t turn,
                         const TensorType& before,
                         const TensorType& after);

/// The type of what turn i of a scan takes: `sequence` at index i of dim 0.
/// Errors: kType for a scalar, and for a dim 0 that is split.
Result<TensorType> check_scanned(const mesh::Mesh& mesh, const TensorType& sequence);

}  // namespace brigade::sharding
