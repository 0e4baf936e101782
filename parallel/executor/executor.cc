// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/executor.h"

#include <utility>

#include "parallel/base/check.h"
#include "parallel/executor/error_boundary.h"
#include "parallel/executor/step.h"
#include "parallel/schedule/activity.h"

namespace brigade::executor {
namespace {

using schedule::Action;

Result<void> check_tokens(const Batch& batch) {
  if (batch.trained_tokens > 0) {
    return {};
  }
  return fail(ErrorCode::kData, "the global batch has no token to train on: all are masked");
}

}  // namespace

struct Executor::Impl {
  Context context;
  Observer observer = {};
  // One run's own copies: a failed step is kept, its messages pending, until the caller has
  // aborted.
  std::vector<Action> actions = {};
  Batch batch = {};
  Update update = {};
  std::unique_ptr<Step> step = {};

  int64_t world_rank() const {
    return context.world->members()[static_cast<size_t>(context.world->rank())];
  }

  Result<void> run() {
    for (size_t i = 0; i < actions.size(); ++i) {
      Result<void> done = catch_errors(world_rank(), schedule::to_string(actions[i]), [&] {
        if (observer) {
          observer(actions[i]);
        }
        const TimelineScope span(context.timeline,
                                 schedule::activity_of(actions[i].kind),
                                 schedule::place_of(actions[i]));
        step->perform(i);
      });
      if (!done) {
        return done;
      }
    }
    return catch_errors(world_rank(), "the sends of the step", [&] { step->finish(); });
  }

  /// Lets go of what one run held.
  void clear() {
    step.reset();
    actions.clear();
    batch = {};
    update = {};
  }
};

Executor::Executor(Context context) : impl_(new Impl{std::move(context)}) {
  const Context& given = impl_->context;
  BRIGADE_CHECK(given.program != nullptr && given.stage != nullptr && given.parameters != nullptr &&
                given.world != nullptr);
  BRIGADE_CHECK(given.tied_owned.empty() || given.pipeline != nullptr);
  BRIGADE_CHECK(given.keep.empty() || given.keep.size() == given.stage->units().size());
}

Executor::~Executor() = default;

void Executor::set_observer(Observer observer) {
  impl_->observer = std::move(observer);
}

Result<StepResult> Executor::run_step(const std::vector<Action>& actions,
                                      const Batch& batch,
                                      const Update& update) {
  BRIGADE_CHECK(update != nullptr);
  if (Result<void> checked = check_tokens(batch); !checked) {
    return fail(checked.error());
  }
  impl_->clear();
  impl_->actions = actions;
  impl_->batch = batch;
  impl_->update = update;
  impl_->step =
      std::make_unique<Step>(impl_->context, impl_->actions, impl_->batch, &impl_->update);
  if (Result<void> done = impl_->run(); !done) {
    return fail(done.error());
  }
  StepResult result = impl_->step->result();
  impl_->clear();
  return result;
}

Result<double> Executor::evaluate(const std::vector<Action>& actions, const Batch& batch) {
  if (Result<void> checked = check_tokens(batch); !checked) {
    return fail(checked.error());
  }
  impl_->clear();
  impl_->actions = actions;
  impl_->batch = batch;
  impl_->step = std::make_unique<Step>(impl_->context, impl_->actions, impl_->batch, nullptr);
  if (Result<void> done = impl_->run(); !done) {
    return fail(done.error());
  }
  double mean = 0.0;
  Result<void> agreed = catch_errors(impl_->world_rank(), "the loss of an evaluation", [&] {
    mean = agree_on_loss(*impl_->context.world, impl_->step->loss(), batch.trained_tokens);
  });
  if (!agreed) {
    return fail(agreed.error());
  }
  impl_->clear();
  return mean;
}

}  // namespace brigade::executor
