// SPDX-License-Identifier: Apache-2.0
/// RunConfig: everything that a recipe says, one struct per TOML table, fields named as the keys.
///
///   config.training.seq_len          // [training] seq_len
///   config.parallelism.zero_stage    // empty: not given; resolve() decides
///
/// The initialisers below are the defaults: torchtitan v0.2.2's, except where Brigade's own page of
/// keys says otherwise. What each key means, its range and which values work stands in the key
/// table (keys.h). Filled by load(), then only read; what follows from it and the world size is
/// resolve()'s business (resolve.h). Known keys that have no field work at their default alone.
///
/// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brigade::config {

struct Job {
  std::string dump_folder = "./outputs";
  std::string description = "default job";
  bool print_config = false;
  std::optional<std::string> save_config_file;

  bool operator==(const Job&) const = default;
};

/// The sizes are those of the flavor, with the keys that were given on top.
struct Model {
  std::string name = "llama3";  ///< "llama3" or "gpt2"
  std::string flavor = "debugmodel";
  int64_t dim = 256;
  int64_t n_layers = 6;
  int64_t n_heads = 16;
  int64_t n_kv_heads = 16;
  int64_t ffn_dim = 768;
  int64_t vocab_size = 256;
  double rope_theta = 500000.0;
  double norm_eps = 1e-5;
  bool tie_embeddings = false;
  int64_t n_positions = 1024;
  double dropout = 0.0;

  bool operator==(const Model&) const = default;
};

struct Optimizer {
  std::string name = "AdamW";  ///< "AdamW" or "SGD"
  double lr = 8e-4;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;
  std::string decay = "matrices";  ///< "matrices" or "all"

  bool operator==(const Optimizer&) const = default;
};

struct LrScheduler {
  int64_t warmup_steps = 200;
  std::optional<int64_t> total_steps;  ///< empty: training.steps
  std::optional<double> decay_ratio;   ///< empty: the decay begins right after the warm-up
  std::string decay_type = "linear";   ///< "linear", "sqrt" or "cosine"
  double min_lr_factor = 0.0;

  bool operator==(const LrScheduler&) const = default;
};

struct Training {
  std::string dataset = "c4_test";          ///< "synthetic", or a label when dataset_path is given
  std::optional<std::string> dataset_path;  ///< a local file, read as bytes
  int64_t local_batch_size = 8;
  int64_t global_batch_size = -1;          ///< -1: local_batch_size x data ranks
  std::optional<int64_t> microbatch_size;  ///< empty: see resolve()
  int64_t seq_len = 2048;
  double max_norm = 1.0;  ///< 0: no clipping
  int64_t steps = 10000;
  std::string mixed_precision_param = "float32";   ///< "float32" or "bfloat16"
  std::string mixed_precision_reduce = "float32";  ///< "float32" or "bfloat16"
  std::string missing_gradients = "zeros";         ///< "zeros" or "error"
  std::string on_nonfinite = "stop";               ///< "stop" or "skip"
  int64_t max_consecutive_skips = 10;
  std::string matmul = "auto";  ///< "auto", "onednn" or "libtorch"

  bool operator==(const Training&) const = default;
};

struct Validation {
  bool enable = false;
  std::string dataset = "c4_validation";
  std::optional<std::string> dataset_path;  ///< empty: the last `fraction` of the training file
  double fraction = 0.1;
  int64_t local_batch_size = 8;
  int64_t seq_len = 2048;
  int64_t freq = 10;
  int64_t steps = -1;  ///< -1: all of the validation text

  bool operator==(const Validation&) const = default;
};

struct Metrics {
  int64_t log_freq = 10;
  bool disable_color_printing = false;

  bool operator==(const Metrics&) const = default;
};

struct Parallelism {
  int64_t data_parallel_replicate_degree = 1;
  int64_t data_parallel_shard_degree = -1;  ///< -1: the ranks that the other degrees leave
  int64_t tensor_parallel_degree = 1;
  int64_t pipeline_parallel_degree = 1;
  std::string pipeline_parallel_schedule = "1F1B";
  int64_t pipeline_parallel_microbatch_size = 1;
  std::optional<int64_t> zero_stage;            ///< empty: 1 when dp_shard > 1, else 0
  std::optional<std::string> reduce_gradients;  ///< "step" or "microbatch"; empty: see resolve()
  int64_t fsdp_prefetch = 1;
  std::string fsdp_reshard_after_forward = "default";  ///< "default", "always" or "never"
  int64_t fsdp_replicate_below = 0;                    ///< elements
  bool sequence_parallel = false;

  bool operator==(const Parallelism&) const = default;
};

struct ActivationCheckpoint {
  std::string mode = "none";              ///< "none", "selective" or "full"
  std::string selective_ac_option = "2";  ///< "op" or a number of blocks

  bool operator==(const ActivationCheckpoint&) const = default;
};

/// What is saved, when, and what a run begins from. docs/CHECKPOINT_FORMAT.md.
struct Checkpoint {
  bool enable = false;
  std::string folder = "checkpoint";  ///< below job.dump_folder
  int64_t interval = 500;             ///< steps
  bool enable_first_step_checkpoint = false;
  int64_t keep_latest_k = 10;              ///< 0: all
  std::string async_mode = "disabled";     ///< "disabled" or "async"
  std::string async_second_save = "wait";  ///< "wait" or "refuse"
  int64_t save_timeout_seconds = 3600;
  bool last_save_model_only = false;
  bool last_save_in_hf = false;
  std::string export_dtype = "float32";  ///< "float32", "bfloat16" or "float16"
  bool create_seed_checkpoint = false;
  bool load_only = false;
  int64_t load_step = -1;  ///< -1: the newest
  std::vector<std::string> exclude_from_loading;
  std::vector<std::string> allow_changes;
  std::optional<std::string> initial_load_path;
  bool initial_load_model_only = true;
  bool initial_load_in_hf = false;

  bool operator==(const Checkpoint&) const = default;
};

struct Comm {
  int64_t init_timeout_seconds = 300;
  int64_t train_timeout_seconds = 100;  ///< from the end of the first step on

  bool operator==(const Comm&) const = default;
};

/// What passes the ranks' timelines on. Recording itself is always on.
struct Profiling {
  bool enable_profiling = false;
  std::string save_traces_folder = "profile_traces";  ///< below job.dump_folder
  int64_t profile_freq = 10;                          ///< steps between two profiles
  int64_t profiler_active = 1;                        ///< steps in each

  bool operator==(const Profiling&) const = default;
};

struct Debug {
  int64_t seed = 42;
  bool deterministic = false;

  bool operator==(const Debug&) const = default;
};

struct Launch {
  int64_t ranks = 1;  ///< the world when a degree is -1 and no launcher says
  int64_t threads_per_rank = 1;

  bool operator==(const Launch&) const = default;
};

struct RunConfig {
  Job job;
  Model model;
  Optimizer optimizer;
  LrScheduler lr_scheduler;
  Training training;
  Validation validation;
  Metrics metrics;
  Parallelism parallelism;
  ActivationCheckpoint activation_checkpoint;
  Checkpoint checkpoint;
  Profiling profiling;
  Comm comm;
  Debug debug;
  Launch launch;

  bool operator==(const RunConfig&) const = default;
};

}  // namespace brigade::config
