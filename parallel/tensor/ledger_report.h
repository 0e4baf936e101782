// SPDX-License-Identifier: Apache-2.0
/// A ledger for people (a table) and for programs (JSON), by group.
///
///   group tp (2 ranks): 14 collectives, 3.5 MiB
///     count  op              pass         bytes  source  reason
///         4  all_reduce      forward    1.0 MiB  einsum  bsf,df->bsd: ...
///
/// Equal entries are one line with their number; bytes are the whole group's. Lines stand in the
/// order of first use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/mesh/mesh.h"
#include "parallel/tensor/ledger.h"

namespace brigade::tensor {

/// Equal entries together.
struct LedgerLine {
  LedgerEntry entry;
  int64_t count = 0;
  int64_t bytes = 0;  ///< of all of them
};

/// The lines of one group.
struct GroupLedger {
  sharding::AxisNames axes;
  std::vector<LedgerLine> lines;
  int64_t count = 0;
  int64_t bytes = 0;
};

std::vector<GroupLedger> by_group(const Ledger& ledger);

std::string to_table(const Ledger& ledger, const mesh::Mesh& mesh);

/// {"groups": [{"axes", "ranks", "collectives", "bytes", "lines": [{"op", "cast", "pass", "count",
/// "bytes", "source", "reason"}]}], "collectives", "bytes"}; `indent` as of nlohmann's dump.
std::string to_json(const Ledger& ledger, const mesh::Mesh& mesh, int indent = 2);

}  // namespace brigade::tensor
