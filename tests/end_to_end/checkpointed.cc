// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/checkpointed.h"

#include <map>
#include <mutex>
#include <utility>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "trainer/config/load.h"
#include "trainer/loop/checkpoints.h"

namespace brigade::end_to_end {
namespace {

/// What a run has beside its trainer, by rank.
class RankCheckpoints {
 public:
  RankCheckpoints(config::RunConfig config, std::shared_ptr<const data::TokenSource> source)
      : config_(std::move(config)), source_(std::move(source)) {}

  void begin(loop::Trainer& trainer, collective::World& world, int64_t from) {
    auto opened = value_or_throw(loop::Checkpoints::open(world, config_, *source_));
    value_or_throw(opened->load(trainer, {}));
    EXPECT_EQ(trainer.counters().step, from);
    const std::lock_guard<std::mutex> lock(mutex_);
    of_rank_[world.rank()] = std::move(opened);
  }

  void after_step(loop::Trainer& trainer, collective::World& world, int64_t to) {
    std::unique_ptr<loop::Checkpoints>& mine = at(world.rank());
    const bool ends = trainer.counters().step == to;
    value_or_throw(mine->after_step(ends));
    if (ends) {
      value_or_throw(mine->finish());
      mine.reset();  // before the world that it talks through
    }
  }

 private:
  std::unique_ptr<loop::Checkpoints>& at(int64_t rank) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return of_rank_.at(rank);
  }

  const config::RunConfig config_;
  const std::shared_ptr<const data::TokenSource> source_;
  std::mutex mutex_;
  std::map<int64_t, std::unique_ptr<loop::Checkpoints>> of_rank_;
};

}  // namespace

Outcome leg(Trial trial,
            const std::shared_ptr<const data::TokenSource>& source,
            const std::string& folder,
            int64_t from,
            int64_t to) {
  trial.settings.insert(trial.settings.end(),
                        {concat("job.dump_folder=\"", folder, '"'), "checkpoint.enable=true"});
  const auto checkpoints = std::make_shared<RankCheckpoints>(
      value_or_throw(config::load_text(trial.recipe, "recipe", trial.settings)), source);
  trial.prepare = [=, before = trial.prepare](loop::Trainer& trainer, collective::World& world) {
    if (before) {
      before(trainer, world);
    }
    checkpoints->begin(trainer, world, from);
  };
  trial.after_step = [=, before = trial.after_step](loop::Trainer& trainer,
                                                    collective::World& world) {
    if (before) {
      before(trainer, world);
    }
    checkpoints->after_step(trainer, world, to);
  };
  return train(trial, source, to - from);
}

Outcome after(Outcome outcome, int64_t steps) {
  outcome.steps.erase(outcome.steps.begin(), outcome.steps.begin() + steps);
  return outcome;
}

}  // namespace brigade::end_to_end
