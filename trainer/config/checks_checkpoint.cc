// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/config/checks.h"
#include "trainer/config/keys.h"

namespace brigade::config {
namespace {

class CheckpointCheck {
 public:
  CheckpointCheck(const Checkpoint& checkpoint, const Settings& settings, Problems& problems)
      : c_(checkpoint), settings_(settings), problems_(problems) {}

  /// Keys that ask for something, in a recipe that does not say whether there are checkpoints. One
  /// that says enable = false has switched them off, as stock recipes do.
  void forgotten() {
    if (settings_.given(key("enable")) != nullptr) {
      return;
    }
    const std::string none =
        "; with checkpoint.enable = false, its default, nothing is saved or "
        "loaded: set checkpoint.enable = true, or leave it out";
    refuse(
        c_.initial_load_path.has_value(),
        {"initial_load_path"},
        concat("checkpoint.initial_load_path = \"", c_.initial_load_path.value_or(""), '"', none));
    refuse(c_.load_step >= 0, {"load_step"}, concat("checkpoint.load_step = ", c_.load_step, none));
    refuse(c_.create_seed_checkpoint,
           {"create_seed_checkpoint"},
           concat("checkpoint.create_seed_checkpoint = true", none));
    refuse(c_.load_only, {"load_only"}, concat("checkpoint.load_only = true", none));
  }

  void folder() {
    const std::filesystem::path path(c_.folder);
    const bool up = std::any_of(
        path.begin(), path.end(), [](const std::filesystem::path& part) { return part == ".."; });
    refuse(
        path.empty() || path.is_absolute() || up,
        {"folder"},
        concat("checkpoint.folder must name a folder below job.dump_folder, relative and without "
               "\"..\", found \"",
               c_.folder,
               "\"; to write elsewhere set job.dump_folder"));
  }

  void saving() {
    refuse(c_.load_only && c_.create_seed_checkpoint,
           {"create_seed_checkpoint", "load_only"},
           "checkpoint.create_seed_checkpoint saves one checkpoint and checkpoint.load_only none; "
           "set one of them to false");
    refuse(c_.last_save_in_hf && !c_.last_save_model_only,
           {"last_save_in_hf", "last_save_model_only"},
           "checkpoint.last_save_in_hf = true stores weights alone; set "
           "checkpoint.last_save_model_only = true, or export a checkpoint later with `brigade "
           "convert`");
    refuse(c_.export_dtype != "float32" && !c_.last_save_model_only,
           {"export_dtype", "last_save_model_only"},
           concat("checkpoint.export_dtype = \"",
                  c_.export_dtype,
                  "\" is for weights alone, from which no run can be continued exactly; set "
                  "checkpoint.last_save_model_only = true, or leave it at float32"));
  }

  void loading() {
    refuse(c_.initial_load_in_hf && !c_.initial_load_path,
           {"initial_load_in_hf"},
           "checkpoint.initial_load_in_hf = true needs checkpoint.initial_load_path, the folder "
           "with config.json and model.safetensors");
    refuse(c_.initial_load_in_hf && !c_.initial_load_model_only,
           {"initial_load_model_only", "initial_load_in_hf"},
           "checkpoint.initial_load_in_hf = true reads weights alone; "
           "checkpoint.initial_load_model_only = false works with a checkpoint of ours");
    refuse(c_.create_seed_checkpoint && c_.load_step >= 0,
           {"load_step", "create_seed_checkpoint"},
           concat("checkpoint.create_seed_checkpoint saves initial weights, and "
                  "checkpoint.load_step = ",
                  c_.load_step,
                  " trained ones; leave out one of them"));
  }

 private:
  static const Key& key(std::string_view name) {
    const Key* found = find_key("checkpoint", name);
    BRIGADE_CHECK(found != nullptr, name);
    return *found;
  }

  /// At the place of the first of `names` that was given; passed over where the value of one is a
  /// problem itself.
  void refuse(bool wrong, const std::vector<std::string_view>& names, std::string text) {
    if (!wrong || std::any_of(names.begin(), names.end(), [this](std::string_view name) {
          return problems_.spoiled(key(name));
        })) {
      return;
    }
    const auto given = std::find_if(names.begin(), names.end(), [this](std::string_view name) {
      return settings_.given(key(name)) != nullptr;
    });
    problems_.add(given == names.end() ? Place() : settings_.place(key(*given)), std::move(text));
  }

  const Checkpoint& c_;
  const Settings& settings_;
  Problems& problems_;
};

}  // namespace

void check_checkpoint(const RunConfig& config, const Settings& settings, Problems& problems) {
  CheckpointCheck check(config.checkpoint, settings, problems);
  if (!config.checkpoint.enable) {
    check.forgotten();
    return;
  }
  check.folder();
  check.saving();
  check.loading();
}

}  // namespace brigade::config
