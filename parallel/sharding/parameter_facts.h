// SPDX-License-Identifier: Apache-2.0
/// ParameterFacts: the one row per parameter that initialisation, placement, ZeRO, clipping, weight
/// decay, checkpoints and Hugging Face names all read (law 4).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/sharding/interval.h"

namespace brigade::sharding {

/// How the *global* tensor starts; never a function of a shard.
struct Initializer {
  enum class Kind { kZeros, kOnes, kNormal };
  Kind kind = Kind::kZeros;
  double standard_deviation = 0.0;  ///< of kNormal

  bool operator==(const Initializer&) const = default;
};

struct ParameterFacts {
  std::string name;  ///< Hugging Face's: "model.layers.0.self_attn.q_proj.weight"
  Shape shape;       ///< global
  std::vector<std::string>
      logical_axes;  ///< a name per dim: "vocab", "embed", "heads", "kv_heads", "mlp", "qkv",
                     ///< "positions"; "norm" of what scales or shifts the residual stream
  Initializer initializer;
  bool decayed = true;  ///< a matrix; the optimizer's `decay` key may say all
  std::string tied_to;  ///< name of the parameter whose value this use shares; empty = its own
  std::string unit;     ///< the unit that gathers and reduces it: "embedding", "block.3", "head"

  bool operator==(const ParameterFacts&) const = default;
};

}  // namespace brigade::sharding
