// SPDX-License-Identifier: Apache-2.0
/// scale.json: all that a study found, for other programs and for making the page again.
///
///   write_file("scale.json", to_json(results));
///   Result<Results> again = results_from_json(text, "studies/tiny/scale.json");
///
/// One object, whose keys are the names of results.h; `"format": 1` says which ones. Short values
/// stand on one line, long ones are indented. A number reads back to the same bits; null is one
/// that does not exist (an absent `mfu`, a NaN or an infinity, which read back as NaN).
/// Keys that results.h does not name are ignored, missing ones are errors.
///
/// Errors: kData, beginning with `where`: no JSON, another format, or the first value that is
/// missing or of another kind, by its place ("points/3/point/ranks"). Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

#include "parallel/base/result.h"
#include "trainer/scaling/results.h"

namespace brigade::scaling {

inline constexpr int kResultsFormat = 1;

std::string to_json(const Results& results);
Result<Results> results_from_json(std::string_view text, std::string_view where);

}  // namespace brigade::scaling
