// SPDX-License-Identifier: Apache-2.0
/// A study of the small recipe over 1 and 2 data ranks, whose results are written by hand.
///
///   HandMadeStudy made;
///   made.finish(0, 1, {.step_ms = {10, 12}});   // point 0, repeat 1
#pragma once

#include <string>

#include "tests/support/small_recipe.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/config/load.h"
#include "trainer/study/grid.h"
#include "trainer/study/store.h"
#include "trainer/study/study.h"

namespace brigade::scale {

class HandMadeStudy {
 public:
  HandMadeStudy() {
    write_file(folder_ / "base.toml", testing::kSmallRecipe);
    write_file(path(),
               R"([study]
name = "made"
base = "base.toml"
output_folder = ")" +
                   output() +
                   R"("
repeats = 2
warmup_steps = 1
steps = 2
oversubscribe = true
timeout_seconds = 5
[grid]
ranks = [1, 2]
mesh = ["dp"]
microbatch_size = 1
[[peer]]
name = "other"
command = "exit 9"
)");
    study_ = value_or_throw(study::load_study(path()));
    grid_ = value_or_throw(study::points_of(study_, {.cores = 1}));
    facts_ = study::facts_of(study_, value_or_throw(config::load(study_.base, study_.settings)));
  }

  std::string path() const { return folder_ / "study.toml"; }
  std::string output() const { return folder_ / "output"; }
  const study::Study& study() const { return study_; }
  const study::Grid& grid() const { return grid_; }
  const study::StudyFacts& facts() const { return facts_; }

  study::Store store() const { return value_or_throw(study::Store::open(output(), facts_)); }

  /// The index of brigade's point of `ranks`, or the peer's.
  size_t index_of(int64_t ranks, const std::string& peer = "") const {
    for (size_t i = 0; i < grid_.points.size(); ++i) {
      if (grid_.points[i].point.ranks == ranks && grid_.points[i].point.peer == peer) {
        return i;
      }
    }
    ADD_FAILURE() << "no point of " << ranks << " ranks of \"" << peer << '"';
    return 0;
  }

  /// The run's folder, with its result.
  std::string finish(const study::Store& store,
                     size_t point,
                     int64_t repeat,
                     const study::RunResult& result) const {
    const std::string& id = grid_.points.at(point).point.id;
    const std::string folder = value_or_throw(store.begin(id, repeat));
    EXPECT_TRUE(store.finish(id, repeat, result));
    return folder;
  }

 private:
  const TemporaryFolder folder_;
  study::Study study_;
  study::Grid grid_;
  study::StudyFacts facts_;
};

}  // namespace brigade::scale
