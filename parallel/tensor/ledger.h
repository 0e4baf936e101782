// SPDX-License-Identifier: Apache-2.0
/// Ledger: every collective that a cast asked for, with the reason (law 2).
///
/// Bytes are those of the whole group, computed from types, so that an entry is equal on all
/// members of its group and from step to step. What one rank sends follows from its box; the
/// transport counts that by itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/sharding/op_plan.h"

namespace brigade::tensor {

enum class Pass : uint8_t { kForward, kBackward, kStep };

std::string_view to_string(Pass pass);

/// The collective that carries a cast out: "all_gather"; "none" for those that move nothing.
std::string_view collective_of(sharding::CastKind cast);

struct LedgerEntry {
  sharding::CastKind cast = sharding::CastKind::kGather;
  sharding::AxisNames axes;
  int64_t group_bytes = 0;  ///< payload that crosses between members, summed over the group
  Pass pass = Pass::kForward;
  std::string reason;       ///< "einsum bsd,hd->bsh: ...", "unit block.3: gradients"
  std::string source = "";  ///< the op whose plan asks for it: "einsum", "reshard", "unit"
  sharding::Reduction reduction = sharding::Reduction::kSum;  ///< how a reduction joins terms

  bool operator==(const LedgerEntry&) const = default;
};

/// Bytes that move within a group of `members` when a cast turns pieces of `whole_bytes` in all
/// into another state; of a permute, `whole_bytes` are those that change hands
/// (sharding/permute.h), and all of them move.
int64_t cast_bytes(sharding::CastKind cast, int64_t members, int64_t whole_bytes);

class Ledger {
 public:
  void write(LedgerEntry entry) { entries_.push_back(std::move(entry)); }
  const std::vector<LedgerEntry>& entries() const { return entries_; }
  void clear() { entries_.clear(); }

  /// Equal ledgers have equal hashes, on any rank.
  uint64_t hash() const;
  int64_t bytes() const;

 private:
  std::vector<LedgerEntry> entries_;
};

}  // namespace brigade::tensor
