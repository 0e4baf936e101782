// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/results_json.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/trainer/scaling/sample_results.h"

namespace brigade::scaling {
namespace {

using testing::HasSubstr;

std::string error_of(const nlohmann::json& json) {
  const Result<Results> results = results_from_json(json.dump(), "scale.json");
  return results ? "none" : results.error().text;
}

TEST(ResultsJson, ComesBackAsItWas) {
  for (const Results& results : {two_rank_study(),
                                 oversubscribed_study(),
                                 all_failed_study(),
                                 one_point_study(),
                                 peer_study(),
                                 Results{}}) {
    const std::string text = to_json(results);
    const Result<Results> again = results_from_json(text, "scale.json");
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ(to_json(*again), text);
  }
}

TEST(ResultsJson, NumbersComeBackToTheSameBits) {
  Results results;
  results.provenance.seed = std::numeric_limits<uint64_t>::max();
  results.points.resize(1);
  results.points[0].step_ms = {0.1, 1.0 / 3, 1e-300, 5e-324, 1.7976931348623157e308, 3, -0.0};
  results.points[0].peak_bytes = {std::numeric_limits<int64_t>::max()};
  const Result<Results> again = results_from_json(to_json(results), "scale.json");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->points[0].step_ms, results.points[0].step_ms);
  EXPECT_TRUE(std::signbit(again->points[0].step_ms.back()));
  EXPECT_EQ(again->points[0].peak_bytes, results.points[0].peak_bytes);
  EXPECT_EQ(again->provenance.seed, results.provenance.seed);
}

TEST(ResultsJson, WhatDoesNotExistIsNull) {
  Results results = one_point_study();
  results.points[0].mfu.reset();
  results.points[0].step_ms = {std::nan("")};
  const auto json = nlohmann::json::parse(to_json(results));
  EXPECT_TRUE(json["points"][0]["mfu"].is_null());
  EXPECT_TRUE(json["points"][0]["step_ms"][0].is_null());
  const Result<Results> again = results_from_json(json.dump(), "scale.json");
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->points[0].mfu);
  EXPECT_TRUE(std::isnan(again->points[0].step_ms[0]));
}

TEST(ResultsJson, TextThatIsNoJsonIsRefusedByTheNameOfItsFile) {
  const Result<Results> results = results_from_json("{\"format\": 1", "studies/a/scale.json");
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().code, ErrorCode::kData);
  EXPECT_THAT(results.error().text, testing::StartsWith("studies/a/scale.json is not JSON: "));
}

TEST(ResultsJson, TheFirstWrongValueIsNamedByItsPlace) {
  const auto good = nlohmann::json::parse(to_json(two_rank_study()));
  auto bad = good;
  bad["points"][3]["point"]["ranks"] = "two";
  EXPECT_EQ(error_of(bad),
            "scale.json: expected an integer at points/3/point/ranks; found \"two\"");
  bad = good;
  bad["points"][3].erase("repeats");
  EXPECT_EQ(error_of(bad), "scale.json: expected the key points/3/repeats; found none");
  bad = good;
  bad["series"][1]["points"][0] = 12;
  EXPECT_THAT(error_of(bad),
              HasSubstr("expected the index of one of 12 points at series/1/points/0"));
  bad = good;
  bad["scaling"] = "sideways";
  EXPECT_THAT(error_of(bad), HasSubstr("expected strong, weak or memory_constrained at scaling"));
  bad = good;
  bad["points"][1]["one_step"][0][0]["part"] = "sleep";
  EXPECT_THAT(error_of(bad),
              HasSubstr("the name of a part of a step at points/1/one_step/0/0/part"));
  bad = good;
  bad["format"] = 2;
  EXPECT_EQ(error_of(bad), "scale.json: expected format 1 at format; found 2");
  EXPECT_THAT(error_of(nlohmann::json::array()), HasSubstr("expected an object at "));
}

}  // namespace
}  // namespace brigade::scaling
