// SPDX-License-Identifier: Apache-2.0
/// Checkpoints: a run's past and future on the disk - where it begins, when it saves, and what a
/// checkpoint of it says.
///
///   auto checkpoints = value_or_throw(Checkpoints::open(world, config, training));
///   ... make the trainer, with checkpoints->matmul() ...
///   value_or_throw(checkpoints->load(trainer, versions));
///   ... after each step:
///   std::vector<std::string> lines = value_or_throw(checkpoints->after_step(ends));
///
/// With checkpoint.enable = false there is nothing to load and nothing is saved.
///
/// Collective: open, load, after_step, save_seed, finish, on all ranks alike.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/collective/world.h"
#include "parallel/tensor/matmul.h"
#include "trainer/checkpoint/saver.h"
#include "trainer/config/run_config.h"
#include "trainer/data/token_source.h"
#include "trainer/loop/resume.h"
#include "trainer/loop/trainer.h"

namespace brigade::loop {

/// The axes of a run, as manifests name them.
std::vector<checkpoint::MeshAxis> mesh_of(const config::RunFacts& facts);

class Checkpoints {
 public:
  /// Takes the folder, so that one in use or not to be written is found at once, and chooses where
  /// to begin. `config` and `training` outlive it.
  /// Errors: the saver's; Resume::choose()'s.
  static Result<std::unique_ptr<Checkpoints>> open(collective::World& world,
                                                   const config::RunConfig& config,
                                                   const data::TokenSource& training);

  /// By which library the run multiplied before; empty where nobody says.
  std::optional<tensor::MatmulTable> matmul() const { return resume_.matmul(); }

  /// Fills the trainer, which outlives this, or leaves it as it is in a run that begins. `versions`
  /// go into each manifest.
  /// Errors: Resume::load()'s.
  Result<void> load(Trainer& trainer, std::map<std::string, std::string> versions);
  /// The step that the run goes on from.
  int64_t first_step() const { return resume_.step(); }

  /// Lines to print before the first step.
  std::vector<std::string> remarks() const;

  /// Whether a run that is asked to stop can be gone on with.
  bool saves() const { return saver_ != nullptr; }

  /// Saves if the step that was just made asks for it, or the run ends with it, and goes on with
  /// what is being saved. Returns lines to print.
  /// Errors: the saver's.
  Result<std::vector<std::string>> after_step(bool ends);

  /// Saves a run that has made no step.
  Result<std::vector<std::string>> save_seed();

  /// The last checkpoint of this process; "" for none.
  std::string last_path() const;

  /// Waits for what is being saved. After the last step it is written for Hugging Face, too, if a
  /// key says so: by rank 0, into the folder "step-N-hf" beside it.
  Result<std::vector<std::string>> finish();

 private:
  Checkpoints(const config::RunConfig& config,
              const data::TokenSource& training,
              std::unique_ptr<checkpoint::Saver> saver,
              Resume resume,
              bool leads)
      : config_(config),
        training_(training),
        saver_(std::move(saver)),
        resume_(std::move(resume)),
        leads_(leads) {}

  bool is_due(int64_t step) const;
  checkpoint::Manifest head(bool model_only) const;
  Result<void> save(bool ends, std::vector<std::string>& lines);
  std::vector<checkpoint::StateBox> boxes_to_write(bool model_only) const;
  Result<std::string> write_in_hf() const;
  std::string description() const;

  const config::RunConfig& config_;
  const data::TokenSource& training_;
  std::unique_ptr<checkpoint::Saver> saver_;  // null: nothing is saved
  Resume resume_;
  Trainer* trainer_ = nullptr;
  std::map<std::string, std::string> facts_;
  const bool leads_;         // rank 0
  int64_t last_saved_ = -1;  // or being saved
  bool ended_ = false;       // the run has made its last step
};

}  // namespace brigade::loop
