// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/results_csv.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "tests/trainer/scaling/sample_results.h"

namespace brigade::scaling {
namespace {

std::vector<std::string> lines_of(const std::string& csv) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < csv.size();) {
    const size_t end = csv.find("\r\n", begin);
    lines.push_back(csv.substr(begin, end - begin));
    begin = end + 2;
  }
  return lines;
}

int64_t commas(const std::string& line) {
  return std::count(line.begin(), line.end(), ',');
}

TEST(ResultsCsv, FieldsAreQuotedWhereRfc4180AsksForIt) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field(" space"), "\" space\"");
  EXPECT_EQ(csv_field(""), "");
}

TEST(ResultsCsv, HasOneLineAPointAndAsManyFieldsInEach) {
  const std::vector<std::string> lines = lines_of(to_csv(oversubscribed_study()));
  ASSERT_EQ(lines.size(), 17U);
  for (const std::string& line : lines) {
    EXPECT_EQ(commas(line), 33) << line;
  }
  EXPECT_THAT(lines[0],
              testing::EndsWith(",compute_ms,exposed_tensor_ms,exposed_data_ms,exposed_ZeRO_ms,"
                                "exposed_pipeline_ms,bubble_ms,optimizer_ms,data_ms,idle_ms"));
  EXPECT_THAT(lines[3], testing::StartsWith("tiny-dp-r3,tiny dp,,llama3 tiny,3,1,"));
}

TEST(ResultsCsv, AFailedPointHasItsReasonAndNoNumbers) {
  const std::string line = lines_of(to_csv(all_failed_study()))[1];
  EXPECT_THAT(line, testing::HasSubstr(",rank 1 left with exit code 3 after step 4,0,0,,,,"));
}

TEST(ResultsCsv, NumbersReadBackToTheSameBits) {
  Results results = one_point_study();
  results.points[0].median_step_ms.value = 1.0 / 3;
  EXPECT_THAT(to_csv(results), testing::HasSubstr(",0.3333333333333333,"));
}

}  // namespace
}  // namespace brigade::scaling
