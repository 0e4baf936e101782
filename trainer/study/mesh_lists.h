// SPDX-License-Identifier: Apache-2.0
/// The key `mesh` of a study's grid: a list for all numbers of ranks, or a table by number.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trainer/study/mesh_choice.h"
#include "trainer/study/table_reader.h"

namespace brigade::study {

/// The meshes of each of `ranks`; "dp" when the key is left out. Problems go to the reader: sizes
/// whose product is no number of ranks, the same mesh twice, ranks without a mesh.
std::map<int64_t, std::vector<MeshChoice>> read_meshes(TableReader& reader,
                                                       const std::vector<int64_t>& ranks);

}  // namespace brigade::study
