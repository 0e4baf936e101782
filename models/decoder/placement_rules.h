// SPDX-License-Identifier: Apache-2.0
/// Tensor and sequence parallelism as placement: which mesh axes each logical axis of a parameter
/// meets, for all families.
///
///   vocab, heads, kv_heads, mlp   split over tp
///   norm, positions               whole; with sequence parallelism, each rank uses them for its
///                                 part of the sequence
///   embed, qkv                    whole
#pragma once

#include "parallel/zero/placement.h"

namespace brigade::decoder {

/// For zero::Options::rules.
zero::AxisRules tensor_parallel_rules();

/// For zero::Options::parts: what stands in the residual stream when its sequence is split.
zero::AxisRules sequence_parallel_rules();

}  // namespace brigade::decoder
