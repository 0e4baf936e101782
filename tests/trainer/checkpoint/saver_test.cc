// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/saver.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/rank_threads.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/folder.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;
using collective::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::run_ranks;

constexpr int64_t kRows = 7;
constexpr int64_t kColumns = 3;

/// One tensor, cut into rows over the ranks.
struct State {
  explicit State(const World& world, float first = 0.0F)
      : rows(sharding::interval(kRows, world.rank(), world.size())),
        values(static_cast<size_t>(rows.size() * kColumns)) {
    std::iota(values.begin(), values.end(), first + static_cast<float>(rows.begin * kColumns));
  }

  std::vector<StateBox> boxes() const {
    return {{"w",
             ElementType::kF32,
             {kRows, kColumns},
             {{rows, {0, kColumns}}},
             std::as_bytes(std::span(values))}};
  }

  sharding::Interval rows;
  std::vector<float> values;
};

Manifest head_of(int64_t step, const std::string& run = "00000000000000aa") {
  Manifest head;
  head.run = run;
  head.saved_at = "2026-11-30T05:40:00Z";
  head.recipe_hash = "0000000000000001";
  head.counters = {.step = step, .samples = 12 * step, .tokens = 100 * step, .updates = step};
  head.mesh = {{"pp", 1}, {"dp_replicate", 1}, {"dp_shard", 2}, {"tp", 1}};
  return head;
}

std::vector<float> saved_values(const std::string& folder, int64_t step) {
  const auto checkpoint = value_or_throw(Checkpoint::open(step_path(folder, step)));
  std::vector<float> values(kRows * kColumns);
  value_or_throw(read_float32(*checkpoint, "w", {{{0, kRows}, {0, kColumns}}}, values));
  return values;
}

std::vector<float> counted_from(float first) {
  std::vector<float> values(kRows * kColumns);
  std::iota(values.begin(), values.end(), first);
  return values;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class SaverTest : public ::testing::TestWithParam<bool> {
 protected:
  SaverOptions options() const {
    return {.folder = folder_ / "checkpoint", .in_background = GetParam()};
  }

  const TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Modes, SaverTest, ::testing::Bool(), [](const auto& mode) {
  return mode.param ? "InBackground" : "AtOnce";
});

TEST_P(SaverTest, SavesWhatAllRanksHold) {
  for (const int64_t ranks : {1, 2, 3, 9}) {
    run_ranks(ranks, [&](World& world) {
      const auto saver = value_or_throw(Saver::open(world, options()));
      const State state(world);
      std::vector<StateBox> boxes = state.boxes();
      if (state.values.empty()) {
        boxes.clear();  // more ranks than rows
      }
      std::optional<Saved> saved = value_or_throw(saver->save(head_of(ranks), boxes));
      EXPECT_EQ(saved.has_value(), !GetParam());
      if (!saved) {
        saved = value_or_throw(saver->finish());
      }
      ASSERT_TRUE(saved);
      EXPECT_FALSE(saver->is_saving());
      EXPECT_EQ(saved->step, ranks);
      EXPECT_EQ(saved->bytes, kRows * kColumns * sizeof(float));
      // Nobody is told before it is there.
      EXPECT_EQ(saved_values(options().folder, ranks), counted_from(0.0F));
    });
    const auto checkpoint = value_or_throw(Checkpoint::open(step_path(options().folder, ranks)));
    EXPECT_EQ(checkpoint->manifest().counters, head_of(ranks).counters);
    EXPECT_EQ(checkpoint->manifest().run, head_of(ranks).run);
  }
  EXPECT_THAT(names_in(options().folder),
              ElementsAre("lock", "step-1", "step-2", "step-3", "step-9"));
}

// R037, R036: what is saved is what was there when save() was called.
TEST_P(SaverTest, R037KeepsTheValuesOfTheMomentOfSaving) {
  run_ranks(2, [&](World& world) {
    const auto saver = value_or_throw(Saver::open(world, options()));
    State state(world);
    value_or_throw(saver->save(head_of(1), state.boxes()));
    std::fill(state.values.begin(), state.values.end(), 7.0F);
    value_or_throw(saver->finish());
    EXPECT_EQ(saved_values(options().folder, 1), counted_from(0.0F));
  });
}

TEST_P(SaverTest, AdvancesUntilTheCheckpointIsThere) {
  run_ranks(3, [&](World& world) {
    const auto saver = value_or_throw(Saver::open(world, options()));
    EXPECT_FALSE(value_or_throw(saver->advance()));
    const State state(world);
    std::optional<Saved> saved = value_or_throw(saver->save(head_of(4), state.boxes()));
    for (int i = 0; !saved && i < 100'000; ++i) {
      saved = value_or_throw(saver->advance());
    }
    ASSERT_TRUE(saved);
    EXPECT_EQ(saved->step, 4);
    EXPECT_FALSE(value_or_throw(saver->finish()));
  });
}

// R042: rotation runs after the new one is there; one may be all there is.
TEST_P(SaverTest, R042KeepsTheNewestOfItsOwnRun) {
  SaverOptions keep_two = options();
  keep_two.keep_latest_k = 2;
  SaverOptions keep_one = options();
  keep_one.keep_latest_k = 1;
  const auto save = [](World& world, const SaverOptions& how, const Manifest& head) {
    const auto saver = value_or_throw(Saver::open(world, how));
    const State state(world);
    std::optional<Saved> saved = value_or_throw(saver->save(head, state.boxes()));
    return saved ? *saved : *value_or_throw(saver->finish());
  };
  run_ranks(2, [&](World& world) {
    save(world, keep_two, head_of(1000, "00000000000000bb"));  // R043: another run's
    for (const int64_t step : {1, 2}) {
      EXPECT_TRUE(save(world, keep_two, head_of(step)).purged.empty());
    }
    const Saved third = save(world, keep_two, head_of(3));
    if (world.rank() == 0) {
      EXPECT_THAT(third.purged, ElementsAre(1));
      EXPECT_THAT(names_in(keep_two.folder), ElementsAre("lock", "step-1000", "step-2", "step-3"));
    }
    const Saved fourth = save(world, keep_one, head_of(4));
    if (world.rank() == 0) {
      EXPECT_THAT(fourth.purged, ElementsAre(3, 2));
      EXPECT_THAT(names_in(keep_two.folder), ElementsAre("lock", "step-1000", "step-4"));
    }
  });
}

TEST_P(SaverTest, ReplacesACheckpointOfTheSameStep) {
  run_ranks(2, [&](World& world) {
    const auto saver = value_or_throw(Saver::open(world, options()));
    for (const float first : {0.0F, 500.0F}) {
      const State state(world, first);
      value_or_throw(saver->save(head_of(2), state.boxes()));
      value_or_throw(saver->finish());
      EXPECT_EQ(saved_values(options().folder, 2), counted_from(first));
      value_or_throw(world.everyone("read")->barrier().wait());
    }
  });
}

TEST_P(SaverTest, ClearsWhatADeadRunLeft) {
  fs::create_directories(folder_ / "checkpoint/.step-9.saving");
  run_ranks(2, [&](World& world) { value_or_throw(Saver::open(world, options())); });
  EXPECT_THAT(names_in(options().folder), ElementsAre("lock"));
}

TEST_P(SaverTest, OfAFolderInUseSaysWhose) {
  run_ranks(1, [&](World& world) {
    const auto saver = value_or_throw(Saver::open(world, options()));
    const auto second = Saver::open(world, options());
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().text, HasSubstr("another run"));
  });
}

TEST_P(SaverTest, BoxesThatLeaveAHoleAreNoCheckpoint) {
  run_ranks(1, [&](World& world) {
    const auto saver = value_or_throw(Saver::open(world, options()));
    const std::vector<float> values(kColumns);
    const std::vector<StateBox> boxes = {{"w",
                                          ElementType::kF32,
                                          {kRows, kColumns},
                                          {{{0, 1}, {0, kColumns}}},
                                          std::as_bytes(std::span(values))}};
    Result<std::optional<Saved>> saved = saver->save(head_of(1), boxes);
    if (saved) {
      saved = saver->finish();
    }
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().text, HasSubstr("w"));
  });
  EXPECT_THAT(names_in(options().folder), ElementsAre("lock"));
}

// A rank that cannot write ends the save, and what was there stays.
TEST_P(SaverTest, AFailedFileLosesNothing) {
  const auto trouble = [&](World& world) {
    const auto saver = value_or_throw(Saver::open(world, options()));
    const State state(world);
    value_or_throw(saver->save(head_of(1), state.boxes()));
    value_or_throw(saver->finish());
    std::vector<StateBox> boxes = state.boxes();
    const std::string long_name(70'000'000, 'x');  // a header that no reader takes
    if (world.rank() == 1) {
      boxes.push_back({long_name, ElementType::kF32, {0}, {{{0, 0}}}, {}});
      boxes.push_back({long_name + "y", ElementType::kF32, {0}, {{{0, 0}}}, {}});
    }
    value_or_throw(saver->save(head_of(2), boxes));
    value_or_throw(saver->finish());
  };
  EXPECT_THROW(run_ranks(2, trouble), Exception);
  EXPECT_THAT(names_in(options().folder), ElementsAre("lock", "step-1"));
  EXPECT_EQ(saved_values(options().folder, 1), counted_from(0.0F));
}

}  // namespace
}  // namespace brigade::checkpoint
