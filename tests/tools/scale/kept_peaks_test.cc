// SPDX-License-Identifier: Apache-2.0
#include "tools/scale/kept_peaks.h"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::scale {
namespace {

TEST(KeptPeaks, AreThoseThatWereKept) {
  const TemporaryFolder folder;
  EXPECT_EQ(kept_peaks(folder.path()), Peaks());
  const Peaks peaks = {{{DType::kFloat32, 1}, 1.25e11}, {{DType::kBFloat16, 2}, 5.0e11 / 3.0}};
  value_or_throw(keep_peaks(folder.path(), peaks));
  EXPECT_EQ(kept_peaks(folder.path()), peaks);
}

TEST(KeptPeaks, ThatCannotBeReadAreNone) {
  const TemporaryFolder folder;
  for (const char* text : {"", "3", "[3]", "[{}]", R"([{"dtype": "f32", "flops_per_s": "x"}])"}) {
    std::ofstream(folder / "peaks.json") << text;
    EXPECT_EQ(kept_peaks(folder.path()), Peaks()) << text;
  }
}

TEST(KeptPeaks, NamesThePlaceThatCannotBeWritten) {
  const TemporaryFolder folder;
  const Result<void> kept = keep_peaks(folder / "absent", {});
  ASSERT_FALSE(kept);
  EXPECT_NE(kept.error().text.find(folder / "absent"), std::string::npos) << kept.error().text;
}

}  // namespace
}  // namespace brigade::scale
