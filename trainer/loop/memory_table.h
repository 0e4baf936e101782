// SPDX-License-Identifier: Apache-2.0
/// Memory and traffic as a run prints them: pure functions.
///
///   memory   peak of each rank         parameters   gradients   optimizer  ...      total
///            rank 0          planned     58.1 KiB    58.1 KiB   116.2 KiB  ...  458.0 KiB
///                            measured    58.1 KiB    58.1 KiB   116.2 KiB  ...  420.3 KiB
///
///   moved    in a step, by stage 0     count   all ranks   each rank
///            tp (2 ranks)                 28   120.0 KiB    60.0 KiB
///              all_reduce forward  einsum  bsh,dh->bsd ...
#pragma once

#include <string>
#include <vector>

#include "parallel/mesh/mesh.h"
#include "parallel/tensor/ledger.h"
#include "parallel/tensor/memory_meter.h"
#include "trainer/loop/memory_report.h"

namespace brigade::loop {

/// Lines of a run's start. Ranks planned like the one before are not repeated.
std::string planned_table(const std::vector<tensor::CategoryBytes>& planned);

/// Lines of its end. Of ranks that follow each other and are planned alike, the one that took most.
std::string measured_table(const std::vector<tensor::CategoryBytes>& planned,
                           const std::vector<MeasuredMemory>& measured);

/// The ledger of one step: bytes by axes, collective and reason, over the whole group and per rank
/// of it. What differs in the unit alone is one line.
std::string moved_table(const tensor::Ledger& ledger, const mesh::Mesh& mesh, int64_t stage);

}  // namespace brigade::loop
