// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/checkpoints.h"

#include <array>
#include <cstdio>
#include <optional>
#include <utility>

#include "parallel/base/text.h"
#include "trainer/checkpoint/folder.h"
#include "trainer/checkpoint/hugging_face_writer.h"
#include "trainer/checkpoint/utc_time.h"
#include "trainer/checkpoint/weights.h"
#include "trainer/config/flat.h"
#include "trainer/loop/checkpoint_choice.h"
#include "trainer/loop/resume_check.h"

namespace brigade::loop {
namespace {

using Lines = std::vector<std::string>;

/// "12.34 s".
std::string seconds_text(std::chrono::duration<double> time) {
  std::array<char, 32> text = {};
  std::snprintf(text.data(), text.size(), "%.2f s", time.count());
  return text.data();
}

checkpoint::ElementType exported_type(const std::string& dtype) {
  using checkpoint::ElementType;
  if (dtype == "bfloat16") {
    return ElementType::kBF16;
  }
  return dtype == "float16" ? ElementType::kF16 : ElementType::kF32;
}

checkpoint::SaverOptions saver_options(const config::RunConfig& config) {
  return {.folder = checkpoint_folder(config),
          .keep_latest_k = config.checkpoint.keep_latest_k,
          .in_background = config.checkpoint.async_mode == "async",
          .timeout = std::chrono::seconds(config.checkpoint.save_timeout_seconds)};
}

void note(const std::optional<checkpoint::Saved>& saved, Lines& lines) {
  if (!saved) {
    return;
  }
  Lines purged;
  for (const int64_t step : saved->purged) {
    purged.push_back(concat("step-", step));
  }
  lines.push_back(concat("saved ",
                         saved->path,
                         ": ",
                         bytes_text(static_cast<int64_t>(saved->bytes)),
                         " in ",
                         seconds_text(saved->took),
                         ", training stood still for ",
                         seconds_text(saved->stalled),
                         purged.empty() ? "" : concat("; removed ", join(purged, ", "))));
  lines.insert(lines.end(), saved->remarks.begin(), saved->remarks.end());
}

}  // namespace

std::vector<checkpoint::MeshAxis> mesh_of(const config::RunFacts& facts) {
  std::vector<checkpoint::MeshAxis> axes;
  for (const mesh::Axis& axis : facts.axes) {
    axes.push_back({axis.name, axis.size});
  }
  return axes;
}

Result<std::unique_ptr<Checkpoints>> Checkpoints::open(collective::World& world,
                                                       const config::RunConfig& config,
                                                       const data::TokenSource& training) {
  std::unique_ptr<checkpoint::Saver> saver;
  if (config.checkpoint.enable && !config.checkpoint.load_only) {
    auto opened = checkpoint::Saver::open(world, saver_options(config));
    if (!opened) {
      return fail(opened.error());
    }
    saver = std::move(*opened);
  }
  Result<Resume> resume = Resume::choose(world, config, training);
  if (!resume) {
    return fail(resume.error());
  }
  return std::unique_ptr<Checkpoints>(
      new Checkpoints(config, training, std::move(saver), std::move(*resume), world.rank() == 0));
}

Result<void> Checkpoints::load(Trainer& trainer, std::map<std::string, std::string> versions) {
  trainer_ = &trainer;
  Result<std::map<std::string, std::string>> facts = resume_facts(trainer.facts(), training_);
  if (!facts) {
    return fail(facts.error());
  }
  facts_ = std::move(*facts);
  facts_.merge(versions);
  Result<void> loaded = resume_.load(trainer);
  return loaded && saves() ? saver_->set_run(resume_.run()) : loaded;
}

std::vector<std::string> Checkpoints::remarks() const {
  Lines lines;
  if (saves()) {
    lines.push_back(description());
    lines.insert(lines.end(), saver_->remarks().begin(), saver_->remarks().end());
  }
  lines.insert(lines.end(), resume_.remarks().begin(), resume_.remarks().end());
  return lines;
}

bool Checkpoints::is_due(int64_t step) const {
  const config::Checkpoint& keys = config_.checkpoint;
  return step % keys.interval == 0 || (step == 1 && keys.enable_first_step_checkpoint);
}

Result<Lines> Checkpoints::after_step(bool ends) {
  Lines lines;
  if (!saves()) {
    return lines;
  }
  if (saver_->is_saving()) {
    const auto saved = saver_->advance();
    if (!saved) {
      return fail(saved.error());
    }
    note(*saved, lines);
  }
  const int64_t step = trainer_->counters().step;
  if (step == last_saved_ || !(ends || is_due(step))) {
    return lines;
  }
  if (saver_->is_saving() && !ends && config_.checkpoint.async_second_save == "refuse") {
    lines.push_back(concat("checkpoint of step ",
                           step,
                           " left out: that of step ",
                           last_saved_,
                           " is still being written"));
    return lines;
  }
  if (Result<void> saved = save(ends, lines); !saved) {
    return fail(saved.error());
  }
  return lines;
}

Result<Lines> Checkpoints::save_seed() {
  Lines lines;
  const Result<void> saved = save(/*ends=*/false, lines);
  return saved ? Result<Lines>(lines) : fail(saved.error());
}

Result<void> Checkpoints::save(bool ends, Lines& lines) {
  const auto before = saver_->finish();
  if (!before) {
    return fail(before.error());
  }
  note(*before, lines);
  ended_ = ends && trainer_->counters().step == config_.training.steps;
  const bool model_only = ended_ && config_.checkpoint.last_save_model_only;
  last_saved_ = trainer_->counters().step;
  const auto saved = saver_->save(head(model_only), boxes_to_write(model_only));
  if (!saved) {
    return fail(saved.error());
  }
  note(*saved, lines);
  return {};
}

std::vector<checkpoint::StateBox> Checkpoints::boxes_to_write(bool model_only) const {
  std::vector<checkpoint::StateBox> boxes = trainer_->boxes_to_write(model_only);
  if (model_only) {
    for (checkpoint::StateBox& box : boxes) {
      box.stored_as = exported_type(config_.checkpoint.export_dtype);
    }
  }
  return boxes;
}

checkpoint::Manifest Checkpoints::head(bool model_only) const {
  checkpoint::Manifest head;
  head.run = resume_.run();
  head.saved_at = checkpoint::utc_time();
  head.model_only = model_only;
  head.counters = trainer_->counters();
  head.recipe = config::flat(config_);
  head.recipe_hash = config::recipe_hash(config_);
  head.facts = facts_;
  head.mesh = mesh_of(trainer_->facts());
  return head;
}

Result<Lines> Checkpoints::finish() {
  Lines lines;
  if (!saves()) {
    return lines;
  }
  const auto saved = saver_->finish();
  if (!saved) {
    return fail(saved.error());
  }
  note(*saved, lines);
  if (ended_ && leads_ && config_.checkpoint.last_save_in_hf) {
    Result<std::string> line = write_in_hf();
    if (!line) {
      return fail(line.error());
    }
    lines.push_back(std::move(*line));
  }
  return lines;
}

Result<std::string> Checkpoints::write_in_hf() const {
  const std::string path = last_path() + "-hf";
  const Result<checkpoint::Weights> weights = checkpoint::open_weights(last_path(), false);
  if (!weights) {
    return fail(weights.error());
  }
  const auto written =
      checkpoint::write_hugging_face(path, *weights->source, weights->config, {.overwrite = true});
  if (!written) {
    return fail(written.error());
  }
  return concat("saved ",
                path,
                " for Hugging Face's transformers: ",
                bytes_text(static_cast<int64_t>(written->bytes)));
}

std::string Checkpoints::last_path() const {
  return last_saved_ < 0 ? "" : checkpoint::step_path(checkpoint_folder(config_), last_saved_);
}

std::string Checkpoints::description() const {
  const auto share =
      static_cast<int64_t>(checkpoint::byte_count(trainer_->boxes_to_write(/*model_only=*/false)));
  const config::Checkpoint& keys = config_.checkpoint;
  return concat("checkpoints: every ",
                counted(keys.interval, "step"),
                " and at the end, in ",
                checkpoint_folder(config_),
                ", keeping ",
                keys.keep_latest_k == 0 ? "all" : concat("the last ", keys.keep_latest_k),
                "; this rank writes ",
                bytes_text(share),
                keys.async_mode == "async"
                    ? concat(" in the background, from a copy of ", bytes_text(share))
                    : " from where they lie");
}

}  // namespace brigade::loop
