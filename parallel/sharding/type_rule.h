// SPDX-License-Identifier: Apache-2.0
/// Names of the rules that a type error breaks (Error::rule), for programs that must tell one kind
/// from another; the text says which tensors, dims and axes.
///
///   catch (const Exception& refused) {
///     if (refused.error().rule == rule::kContraction) ...
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "parallel/base/result.h"

namespace brigade::sharding {

namespace rule {

inline constexpr std::string_view kUnknownAxis = "unknown-axis";  ///< not in the mesh
inline constexpr std::string_view kAxisTwice = "axis-twice";      ///< splits two dims, or one twice
inline constexpr std::string_view kAxisInTwoSets = "axis-in-two-sets";  ///< two states at once
inline constexpr std::string_view kSpecTooLong = "spec-too-long";  ///< more dims than the tensor
inline constexpr std::string_view kUnequalOperands = "unequal-operands";  ///< placed differently
inline constexpr std::string_view kContraction = "contraction";  ///< split on both sides, no out=
inline constexpr std::string_view kUnreduced = "unreduced";  ///< an unfinished sum, op not linear
inline constexpr std::string_view kShardedDim = "sharded-dim";    ///< must be whole for this op
inline constexpr std::string_view kBufferShape = "buffer-shape";  ///< not the local shape
inline constexpr std::string_view kNoCast = "no-cast";            ///< no rule leads to that type
inline constexpr std::string_view kOtherMesh = "other-mesh";      ///< a sharding of another mesh
inline constexpr std::string_view kBoundary = "boundary";       ///< not as the boundary declares it
inline constexpr std::string_view kFalseClaim = "false-claim";  ///< what must be equal is not

}  // namespace rule

[[nodiscard]] inline tl::unexpected<Error> fail_type(std::string_view rule, std::string text) {
  return tl::unexpected<Error>(Error{ErrorCode::kType, std::move(text), -1, rule});
}

/// `inner` with words in front: where it happened.
[[nodiscard]] inline tl::unexpected<Error> fail_within(std::string_view where, Error inner) {
  inner.text.insert(0, where);
  return tl::unexpected<Error>(std::move(inner));
}

}  // namespace brigade::sharding
