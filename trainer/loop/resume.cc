// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/resume.h"

#include <algorithm>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/collective/gather_texts.h"
#include "trainer/checkpoint/check_tensors.h"
#include "trainer/checkpoint/weights.h"
#include "trainer/loop/agreement.h"
#include "trainer/loop/resume_check.h"
#include "trainer/loop/run_state.h"

namespace brigade::loop {
namespace {

bool excludes(const config::RunConfig& config, std::string_view what) {
  const std::vector<std::string>& words = config.checkpoint.exclude_from_loading;
  return std::find(words.begin(), words.end(), what) != words.end();
}

/// Of the disk or of what lies there: another checkpoint may be better.
bool is_damage(ErrorCode code) {
  return code == ErrorCode::kData || code == ErrorCode::kIo;
}

}  // namespace

Result<Resume> Resume::choose(collective::World& world,
                              const config::RunConfig& config,
                              const data::TokenSource& training) {
  Result<config::RunFacts> facts = config::resolve(config, world.size());
  if (!facts) {
    return fail(facts.error());
  }
  Resume resume(config, training, std::move(*facts));
  resume.ranks_ = world.everyone("resume");
  std::string text;
  if (world.rank() == 0) {
    const Result<Choice> choice = look_for_checkpoints(config);
    if (!choice) {
      return fail(choice.error());
    }
    text = to_text(*choice);
  }
  const Result<std::string> told = collective::broadcast_text(*resume.ranks_, std::move(text), 0);
  if (!told) {
    return fail(told.error());
  }
  resume.choice_ = choice_of(*told);
  resume.remarks_ = resume.choice_.remarks;
  if (Result<void> opened = resume.open_best(); !opened) {
    return fail(opened.error());
  }
  return resume;
}

/// Until all ranks have opened one.
Result<void> Resume::open_best() {
  while (!choice_.candidates.empty()) {
    const Result<std::optional<Error>> error =
        first_error(*ranks_, open(choice_.candidates.front()));
    if (!error) {
      return fail(error.error());
    }
    if (!*error) {
      return {};
    }
    if (Result<void> skipped = skip_best(**error); !skipped) {
      return skipped;
    }
  }
  return {};
}

Result<void> Resume::open(const Candidate& candidate) {
  if (choice_.in_hf) {
    return open_hugging_face(candidate.path);
  }
  Result<std::unique_ptr<checkpoint::Checkpoint>> opened =
      checkpoint::Checkpoint::open(candidate.path);
  if (!opened) {
    return fail(opened.error());
  }
  if (Result<void> possible = check(**opened); !possible) {
    return possible;
  }
  checkpoint_ = std::move(*opened);
  return {};
}

Result<void> Resume::open_hugging_face(const std::string& path) {
  Result<checkpoint::Weights> weights = checkpoint::open_weights(path, /*in_hf=*/true);
  if (!weights) {
    return fail(weights.error());
  }
  const Result<void> fits = checkpoint::check_model(*weights, config_->model).and_then([&] {
    return checkpoint::check_tensors(*weights->source,
                                     written_tensors(*config_, facts_, /*model_only=*/true));
  });
  if (fits) {
    weights_ = std::move(weights->source);
  }
  return fits;
}

Result<void> Resume::check(const checkpoint::Checkpoint& checkpoint) const {
  const Result<void> possible = choice_.weights_alone ? Result<void>() : check_goes_on(checkpoint);
  if (!possible) {
    return possible;
  }
  const bool model_only =
      choice_.weights_alone || checkpoint.manifest().model_only || excludes(*config_, "optimizer");
  return checkpoint::check_tensors(checkpoint, written_tensors(*config_, facts_, model_only));
}

/// Whether the run may take everything from it, not the weights alone.
Result<void> Resume::check_goes_on(const checkpoint::Checkpoint& checkpoint) const {
  const checkpoint::Manifest& manifest = checkpoint.manifest();
  const auto here = resume_facts(facts_, *training_);
  if (!here) {
    return fail(here.error());
  }
  if (Result<void> same = check_resumable(manifest, *config_, *here); !same) {
    return same;
  }
  if (manifest.model_only && !excludes(*config_, "optimizer")) {
    return fail(ErrorCode::kUsage,
                concat(checkpoint.path(),
                       " holds the model alone; to go on without the optimizer's states, set "
                       "checkpoint.exclude_from_loading=\"optimizer\""));
  }
  if (manifest.counters.step > config_->training.steps) {
    return fail(ErrorCode::kUsage,
                concat(checkpoint.path(),
                       " is of step ",
                       manifest.counters.step,
                       ", training.steps = ",
                       config_->training.steps,
                       " is less; ask for more steps, or begin in another job.dump_folder"));
  }
  return {};
}

/// The error itself, where nothing else may take the place of the best.
Result<void> Resume::skip_best(Error error) {
  checkpoint_.reset();
  if (choice_.asked_for || !is_damage(error.code)) {
    return fail(std::move(error));
  }
  remarks_.push_back(concat("skipped step-",
                            choice_.candidates.front().step,
                            " (rank ",
                            error.origin_rank,
                            "): ",
                            error.text));
  choice_.candidates.erase(choice_.candidates.begin());
  if (choice_.candidates.empty()) {
    return fail(ErrorCode::kData,
                concat("no checkpoint of the run can be loaded; move them away to begin anew. ",
                       join(remarks_, "; ")));
  }
  return {};
}

std::optional<tensor::MatmulTable> Resume::matmul() const {
  if (!continues()) {
    return std::nullopt;
  }
  const auto& facts = checkpoint_->manifest().facts;
  const auto found = facts.find("matmul");
  return found == facts.end() ? std::nullopt : tensor::parse_matmul_table(found->second);
}

int64_t Resume::step() const {
  return continues() ? checkpoint_->manifest().counters.step : 0;
}

Result<void> Resume::load(Trainer& trainer) {
  if (choice_.candidates.empty()) {
    return {};
  }
  while (true) {
    const Result<std::optional<Error>> error = first_error(*ranks_, read(trainer));
    if (!error) {
      return fail(error.error());
    }
    if (!*error) {
      break;
    }
    Result<void> other = skip_best(**error).and_then([this] { return open_best(); });
    if (!other) {
      return other;
    }
  }
  if (Result<void> gathered = trainer.parameters().gather(); !gathered) {
    return gathered;
  }
  const std::string& path = choice_.candidates.front().path;
  if (!continues()) {
    remarks_.push_back(concat("weights from ", path));
    return {};
  }
  const checkpoint::Manifest& manifest = checkpoint_->manifest();
  checkpoint::Counters counters = manifest.counters;
  if (excludes(*config_, "optimizer")) {
    counters.updates = 0;
  }
  if (excludes(*config_, "dataloader")) {
    counters.samples = 0;
  }
  trainer.set_counters(counters);
  remarks_.push_back(concat("goes on from ",
                            path,
                            ": step ",
                            counters.step,
                            ", ",
                            with_thousands(counters.samples),
                            " samples and ",
                            with_thousands(counters.tokens),
                            " tokens done, saved ",
                            manifest.saved_at,
                            "; this rank read ",
                            with_thousands(static_cast<int64_t>(checkpoint_->bytes_read())),
                            " bytes"));
  const std::vector<std::string> changes = resume_remarks(manifest, *config_);
  remarks_.insert(remarks_.end(), changes.begin(), changes.end());
  return {};
}

Result<void> Resume::read(Trainer& trainer) {
  checkpoint::TensorSource& source =
      weights_ != nullptr ? *weights_ : static_cast<checkpoint::TensorSource&>(*checkpoint_);
  const bool states = continues() && !excludes(*config_, "optimizer");
  return trainer.load(source, states);
}

}  // namespace brigade::loop
