// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/profile_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"
#include "trainer/checkpoint/input_file.h"
#include "trainer/checkpoint/output_file.h"
#include "trainer/scaling/breakdown.h"
#include "trainer/scaling/chrome_trace.h"

namespace brigade::scaling {
namespace {

using nlohmann::ordered_json;

constexpr uint64_t kMostBytes = uint64_t{64} << 20;

std::string timeline_path(const std::string& folder, size_t rank) {
  return concat(folder, "/rank_", rank, ".timeline");
}

std::string profile_path(const std::string& folder) {
  return folder + "/profile.json";
}

ordered_json json_of(const RankFacts& facts) {
  return {{"peak_bytes", facts.peak_bytes}, {"bytes_by_axis", facts.bytes_by_axis}};
}

RankFacts facts_of(const nlohmann::json& json) {
  return {.peak_bytes = json.at("peak_bytes").get<int64_t>(),
          .bytes_by_axis = json.at("bytes_by_axis").get<std::map<std::string, double>>()};
}

/// Mean milliseconds over steps and ranks.
Breakdown mean_of(const std::vector<RankTimeline>& timelines) {
  PointResult point;
  if (const auto steps = break_down(timelines)) {
    point.breakdown_by_rank = mean_by_rank(*steps);
  }
  return point.breakdown();
}

}  // namespace

std::string to_json(const RankFacts& facts) {
  return json_of(facts).dump();
}

Result<RankFacts> parse_rank_facts(std::string_view json) {
  try {
    return facts_of(nlohmann::json::parse(json));
  } catch (const nlohmann::json::exception& exception) {
    return fail(ErrorCode::kData, concat("a rank's part of a profile: ", exception.what()));
  }
}

Result<void> write_profile(const std::string& folder, const Profile& profile) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) {
    return fail(ErrorCode::kIo, concat(folder, " cannot be made: ", code.message()));
  }
  for (size_t rank = 0; rank < profile.timelines.size(); ++rank) {
    if (Result<void> written = write_timeline(timeline_path(folder, rank), profile.timelines[rank]);
        !written) {
      return written;
    }
  }
  if (Result<void> written = write_chrome_trace(folder + "/trace.json", profile.timelines);
      !written) {
    return written;
  }
  ordered_json json = {{"ranks", ordered_json::array()}, {"mean_ms", ordered_json::object()}};
  for (const RankFacts& rank : profile.ranks) {
    json["ranks"].push_back(json_of(rank));
  }
  const Breakdown mean = mean_of(profile.timelines);
  for (size_t part = 0; part < kParts; ++part) {
    json["mean_ms"][std::string(to_string(static_cast<Part>(part)))] = mean[part];
  }
  return checkpoint::write_durably(profile_path(folder), json.dump(2) + "\n");
}

Result<Profile> read_profile(const std::string& folder) {
  const Result<std::string> text = checkpoint::read_text(profile_path(folder), kMostBytes);
  if (!text) {
    return fail(text.error());
  }
  Profile profile;
  try {
    const nlohmann::json json = nlohmann::json::parse(*text);
    for (const nlohmann::json& rank : json.at("ranks")) {
      profile.ranks.push_back(facts_of(rank));
    }
  } catch (const nlohmann::json::exception& exception) {
    return fail(ErrorCode::kData, concat(profile_path(folder), ": ", exception.what()));
  }
  for (size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    Result<RankTimeline> timeline = read_timeline(timeline_path(folder, rank));
    if (!timeline) {
      return fail(timeline.error());
    }
    if (timeline->rank != static_cast<int64_t>(rank) ||
        timeline->ranks != static_cast<int64_t>(profile.ranks.size())) {
      return fail(ErrorCode::kData,
                  concat(timeline_path(folder, rank),
                         " is of rank ",
                         timeline->rank,
                         " of ",
                         timeline->ranks,
                         "; expected rank ",
                         rank,
                         " of ",
                         profile.ranks.size()));
    }
    profile.timelines.push_back(std::move(*timeline));
  }
  return profile;
}

std::string time_words(const std::vector<RankTimeline>& timelines) {
  const Breakdown mean = mean_of(timelines);
  double whole = 0;
  std::vector<std::pair<double, Part>> parts;
  for (size_t part = 0; part < kParts; ++part) {
    whole += mean[part];
    parts.emplace_back(mean[part], static_cast<Part>(part));
  }
  std::stable_sort(
      parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> words;
  for (const auto& [ms, part] : parts) {
    const double percent = whole > 0 ? 100 * ms / whole : 0;
    if (percent >= 0.5) {
      words.push_back(concat(to_string(part), " ", std::lround(percent), " %"));
    }
  }
  return join(words, ", ");
}

}  // namespace brigade::scaling
