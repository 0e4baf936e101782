// SPDX-License-Identifier: Apache-2.0
/// What a run that was asked for a profile leaves of some steps: the timelines of all ranks, and
/// what else is known of each.
///
///   <folder>/rank_<r>.timeline   parallel/base/timeline_file.h
///   <folder>/trace.json          the same for Perfetto and chrome://tracing
///   <folder>/profile.json        memory, bytes and where the time went; written last
///
/// Errors: kIo with the path and the system's words; kData, naming the file, when one is damaged or
///         of another run.
/// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/base/timeline_file.h"

namespace brigade::scaling {

/// What one rank adds to a profile.
struct RankFacts {
  int64_t peak_bytes = 0;                            ///< resident, so far
  std::map<std::string, double> bytes_by_axis = {};  ///< its share of a step's messages

  bool operator==(const RankFacts&) const = default;
};

std::string to_json(const RankFacts& facts);
Result<RankFacts> parse_rank_facts(std::string_view json);

struct Profile {
  std::vector<RankTimeline> timelines = {};  ///< by rank
  std::vector<RankFacts> ranks = {};         ///< by rank
};

/// Makes the folder.
Result<void> write_profile(const std::string& folder, const Profile& profile);
Result<Profile> read_profile(const std::string& folder);

/// "compute 81 %, exposed data 12 %, ...": the mean over steps and ranks, the largest first, parts
/// below half a percent left out.
std::string time_words(const std::vector<RankTimeline>& timelines);

}  // namespace brigade::scaling
