// SPDX-License-Identifier: Apache-2.0
/// What keys of a study contradict one another, or do nothing beside the others.
#pragma once

#include <string>
#include <vector>

#include "trainer/study/study.h"
#include "trainer/study/table_reader.h"

namespace brigade::study {

/// [study] against itself and the grid; problems go to the reader of [study].
void check_study(const Study& study, TableReader& reader);

/// [grid] against itself.
void check_grid(const Study& study, TableReader& reader);

/// "section.key" of each setting, however it was spelled.
std::vector<std::string> names_of(const std::vector<std::string>& settings);

/// The key of the study or grid that decides what `setting` ("section.key") would; "" for none.
std::string decided_by(const std::string& setting);

}  // namespace brigade::study
