// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ledger.h"

#include <numeric>

#include "parallel/base/philox.h"
#include "parallel/base/text.h"

namespace brigade::tensor {

std::string_view to_string(Pass pass) {
  switch (pass) {
    case Pass::kForward: return "forward";
    case Pass::kBackward: return "backward";
    case Pass::kStep: return "step";
  }
  return "";
}

std::string_view collective_of(sharding::CastKind cast) {
  using sharding::CastKind;
  switch (cast) {
    case CastKind::kGather:
    case CastKind::kGatherReduced: return "all_gather";
    case CastKind::kReduceScatter: return "reduce_scatter";
    case CastKind::kAllReduce: return "all_reduce";
    case CastKind::kAllToAll:
    case CastKind::kPermute: return "all_to_all";
    case CastKind::kSlice:
    case CastKind::kSliceReduced:
    case CastKind::kMarkReduced:
    case CastKind::kKeepFirst:
    case CastKind::kPlace: return "none";
  }
  return "none";
}

int64_t cast_bytes(sharding::CastKind cast, int64_t members, int64_t whole_bytes) {
  using sharding::CastKind;
  switch (cast) {
    case CastKind::kGather:
    case CastKind::kGatherReduced:
    case CastKind::kReduceScatter: return (members - 1) * whole_bytes;
    case CastKind::kAllReduce: return 2 * (members - 1) * whole_bytes;
    case CastKind::kAllToAll: return (members - 1) * whole_bytes / members;
    case CastKind::kPermute: return whole_bytes;
    case CastKind::kSlice:
    case CastKind::kSliceReduced:
    case CastKind::kMarkReduced:
    case CastKind::kKeepFirst:
    case CastKind::kPlace: return 0;
  }
  return 0;
}

uint64_t Ledger::hash() const {
  uint64_t hash = 0;
  for (const LedgerEntry& entry : entries_) {
    const std::string line = concat(hash,
                                    ' ',
                                    sharding::to_string(entry.cast),
                                    ' ',
                                    join(entry.axes),
                                    ' ',
                                    entry.group_bytes,
                                    ' ',
                                    static_cast<int>(entry.pass),
                                    ' ',
                                    static_cast<int>(entry.reduction),
                                    ' ',
                                    entry.source);
    hash = random_stream(line, entry.reason);
  }
  return hash;
}

int64_t Ledger::bytes() const {
  return std::transform_reduce(
      entries_.begin(), entries_.end(), int64_t{0}, std::plus<>(), [](const LedgerEntry& entry) {
        return entry.group_bytes;
      });
}

}  // namespace brigade::tensor
