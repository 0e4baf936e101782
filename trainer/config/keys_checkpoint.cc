// SPDX-License-Identifier: Apache-2.0
// [checkpoint]
#include "trainer/config/keys.h"

namespace brigade::config {
namespace {

std::vector<Key> saving_keys() {
  const Section checkpoint("checkpoint", &RunConfig::checkpoint);
  return {
      checkpoint("enable", &Checkpoint::enable, "save, and go on from what was saved"),
      checkpoint("folder", &Checkpoint::folder, "where, below job.dump_folder"),
      checkpoint("interval",
                 &Checkpoint::interval,
                 "steps between two checkpoints; the last step always has one")
          .at_least(1),
      checkpoint("enable_first_step_checkpoint",
                 &Checkpoint::enable_first_step_checkpoint,
                 "save after step 1 as well, so that what cannot be saved shows early"),
      checkpoint("keep_latest_k",
                 &Checkpoint::keep_latest_k,
                 "how many checkpoints are kept, the newest; 0: all")
          .at_least(0),
      checkpoint("async_mode",
                 &Checkpoint::async_mode,
                 "disabled: the step waits for the disk; async: it waits for a copy in memory, "
                 "which a thread then writes")
          .one_of({"disabled", "async"})
          .asking({"async_with_pinned_mem"},
                  "there is no device memory to copy from; async stages in host memory")
          .when("checkpoint.enable"),
      checkpoint("async_second_save",
                 &Checkpoint::async_second_save,
                 "a checkpoint that comes due while another is being written: wait for that one, "
                 "or leave the new one out and say so")
          .one_of({"wait", "refuse"}),
      checkpoint("save_timeout_seconds",
                 &Checkpoint::save_timeout_seconds,
                 "deadline of every wait for what another rank reads or writes of a checkpoint")
          .at_least(1)
          .at_most(1e9),
      checkpoint("last_save_model_only",
                 &Checkpoint::last_save_model_only,
                 "the last step's checkpoint holds weights alone, and the run cannot be continued"),
      checkpoint("last_save_in_hf",
                 &Checkpoint::last_save_in_hf,
                 "the last step's weights as Hugging Face stores them; with last_save_model_only"),
      checkpoint("export_dtype",
                 &Checkpoint::export_dtype,
                 "type of the last step's weights; with last_save_model_only")
          .one_of({"float32", "bfloat16", "float16"}),
      checkpoint("create_seed_checkpoint",
                 &Checkpoint::create_seed_checkpoint,
                 "save the initial weights as step 0, and train nothing"),
  };
}

std::vector<Key> loading_keys() {
  const Section checkpoint("checkpoint", &RunConfig::checkpoint);
  return {
      checkpoint("load_only", &Checkpoint::load_only, "load, and never save"),
      checkpoint("load_step",
                 &Checkpoint::load_step,
                 "go on from this step's checkpoint of the folder; -1: from the newest")
          .at_least(-1),
      checkpoint("exclude_from_loading",
                 &Checkpoint::exclude_from_loading,
                 "what begins anew though it was saved: moments, the position in the data")
          .one_of({"optimizer", "dataloader"})
          .asking({"lr_scheduler", "model", "train_state"},
                  "the learning rate is a function of the step, and without step or weights there "
                  "is nothing to go on from")
          .when("checkpoint.enable"),
      checkpoint("allow_changes",
                 &Checkpoint::allow_changes,
                 "what may differ from the run that is continued; anything else of these is "
                 "refused")
          .one_of({"data", "seed", "global_batch", "seq_len", "optimizer"}),
      checkpoint("initial_load_path",
                 &Checkpoint::initial_load_path,
                 "a checkpoint, or with initial_load_in_hf a folder of Hugging Face's, from which "
                 "a run begins whose own folder holds none yet"),
      checkpoint("initial_load_model_only",
                 &Checkpoint::initial_load_model_only,
                 "of initial_load_path take the weights alone; false: go on as its run would"),
      checkpoint("initial_load_in_hf",
                 &Checkpoint::initial_load_in_hf,
                 "initial_load_path is a folder with config.json and model.safetensors"),
      later("checkpoint",
            "initial_load_in_hf_quantized",
            Kind::kBool,
            false,
            "torchtitan: start from quantized safetensors",
            "weights are read as float32, bfloat16 and float16")
          .when("checkpoint.enable"),
      later("checkpoint",
            "enable_ft_dataloader_checkpoints",
            Kind::kBool,
            true,
            "torchtitan: loader states per replica",
            "the position in the data is one number")
          .when("checkpoint.enable"),
  };
}

}  // namespace

std::vector<Key> checkpoint_keys() {
  std::vector<Key> rows = saving_keys();
  const std::vector<Key> more = loading_keys();
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace brigade::config
