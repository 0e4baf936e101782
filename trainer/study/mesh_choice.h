// SPDX-License-Identifier: Apache-2.0
/// MeshChoice: how a study spreads ranks over axes, as its file says it.
///
///   mesh_choice("tp", 4)->degrees.tp           // 4: a rule takes all ranks along its axis
///   mesh_choice("dp2 x tp2", 4)->degrees.tp    // 2
///
/// Rules: dp, dp_replicate, tp, pp. dp means dp_shard, the data axis over which ZeRO shares.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "parallel/base/result.h"

namespace brigade::study {

struct Degrees {
  int64_t pp = 1;
  int64_t dp_replicate = 1;
  int64_t dp_shard = 1;
  int64_t tp = 1;

  int64_t ranks() const { return pp * dp_replicate * dp_shard * tp; }
  int64_t data_ranks() const { return dp_replicate * dp_shard; }
  bool operator==(const Degrees&) const = default;
};

/// "dp2 x tp2"; "one rank".
std::string to_string(const Degrees& degrees);

/// What meshes have in common that differ by ranks alone: "dp", "dp x tp2". The first axis that is
/// used, data before tensor before pipeline, grows; the others keep their sizes.
std::string family_of(const Degrees& degrees);

struct MeshChoice {
  std::string text = "";  ///< as the study says it
  std::string family = "";
  Degrees degrees = {};
};

bool is_rule(std::string_view text);

/// The sizes that an explicit mesh names, "dp2 x tp2" or "dp_shard=2 x tp=2".
/// Errors: kUsage for an axis that is none, one named twice or a size that is none.
Result<Degrees> parse_degrees(std::string_view text);

/// A rule or an explicit mesh for so many ranks.
/// Errors: as parse_degrees(), and kUsage when an explicit mesh is for another number of ranks.
Result<MeshChoice> mesh_choice(const std::string& text, int64_t ranks);

}  // namespace brigade::study
