// SPDX-License-Identifier: Apache-2.0
/// Resume: where a run begins - at nothing, at weights from elsewhere, or where a checkpoint of its
/// own left it.
///
///   Resume resume = value_or_throw(Resume::choose(world, config, training));
///   ... make the trainer, with resume.matmul() ...
///   value_or_throw(resume.load(trainer));
///
/// All ranks begin at the same step or none does: what one of them cannot read is left out by all,
/// or ends the run.
///
/// Collective: choose, load.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/collective/world.h"
#include "parallel/tensor/matmul.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/tensor_source.h"
#include "trainer/config/resolve.h"
#include "trainer/config/run_config.h"
#include "trainer/loop/checkpoint_choice.h"
#include "trainer/loop/trainer.h"

namespace brigade::loop {

class Resume {
 public:
  /// Looks, as the keys say, for the newest complete checkpoint of this run, for load_step, or,
  /// where the run's folder has no checkpoint at all, for initial_load_path. `config` and
  /// `training` outlive it.
  /// Errors: kUsage when what must not change did (resume_check.h), or fewer steps are wanted than
  ///         were made; kData when a checkpoint that was asked for is damaged, or each that there
  ///         is. All ranks return the same one.
  static Result<Resume> choose(collective::World& world,
                               const config::RunConfig& config,
                               const data::TokenSource& training);

  /// By which library the run multiplied before; empty where nobody says.
  std::optional<tensor::MatmulTable> matmul() const;

  /// Fills the trainer. When the newest checkpoint proves damaged while it is read, the one before
  /// it is taken, and a remark says so.
  /// Errors: as choose().
  Result<void> load(Trainer& trainer);

  /// The run that goes on, or a new one: 16 hexadecimal digits.
  const std::string& run() const { return choice_.run; }
  /// The step that the run goes on from; 0 for one that begins.
  int64_t step() const;
  /// Lines to print: where the run begins and why, what was skipped, what has changed.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  Resume(const config::RunConfig& config, const data::TokenSource& training, config::RunFacts facts)
      : config_(&config), training_(&training), facts_(std::move(facts)) {}

  Result<void> open_best();
  Result<void> open(const Candidate& candidate);
  Result<void> open_hugging_face(const std::string& path);
  Result<void> check(const checkpoint::Checkpoint& checkpoint) const;
  Result<void> check_goes_on(const checkpoint::Checkpoint& checkpoint) const;
  Result<void> skip_best(Error error);
  Result<void> read(Trainer& trainer);
  bool continues() const { return checkpoint_ != nullptr && !choice_.weights_alone; }

  const config::RunConfig* config_;
  const data::TokenSource* training_;
  config::RunFacts facts_;
  std::unique_ptr<collective::Communicator> ranks_;
  Choice choice_;
  std::unique_ptr<checkpoint::Checkpoint> checkpoint_;
  std::unique_ptr<checkpoint::TensorSource> weights_;  ///< Hugging Face's
  std::vector<std::string> remarks_;
};

}  // namespace brigade::loop
