// SPDX-License-Identifier: Apache-2.0
// [job] [metrics] [profiling] [debug]
#include "trainer/config/keys.h"

namespace brigade::config {

std::vector<Key> run_keys() {
  const Section job("job", &RunConfig::job);
  const Section metrics("metrics", &RunConfig::metrics);
  const Section debug("debug", &RunConfig::debug);
  const std::string sinks = "the sinks here are the console, metrics.jsonl and the rank logs";
  return {
      job("dump_folder", &Job::dump_folder, "the run folder: everything that a run writes"),
      job("description", &Job::description, "a line about the run, printed at its start"),
      job("print_config", &Job::print_config, "print the merged config at the start of the run"),
      job("save_config_file",
          &Job::save_config_file,
          "write the merged config to this file too, besides the run folder"),
      later("job",
            "config_file",
            Kind::kString,
            std::nullopt,
            "the recipe; belongs on the command line, as --config=FILE",
            "a recipe cannot name another recipe"),
      later("job",
            "custom_config_module",
            Kind::kString,
            std::string(),
            "torchtitan: a Python module with further keys",
            "there is no Python here"),

      metrics("log_freq",
              &Metrics::log_freq,
              "steps between two lines on the console; step 1 and the last always have one")
          .at_least(1),
      metrics("disable_color_printing",
              &Metrics::disable_color_printing,
              "no colours, also on a terminal"),
      later("metrics",
            "save_for_all_ranks",
            Kind::kBool,
            false,
            "torchtitan: metrics of every rank",
            "metrics are those of the whole run, written once"),
      later("metrics", "enable_tensorboard", Kind::kBool, false, "TensorBoard event files", sinks),
      later("metrics", "save_tb_folder", Kind::kString, std::string("tb"), "their folder", sinks)
          .when("metrics.enable_tensorboard"),
      later("metrics", "enable_wandb", Kind::kBool, false, "Weights & Biases", sinks),

      debug("seed", &Debug::seed, "decides initial weights and the order of samples").at_least(0),
      debug("deterministic",
            &Debug::deterministic,
            "bitwise equal over data, pipeline and ZeRO layouts; needs training.microbatch_size"),
      later("debug",
            "deterministic_warn_only",
            Kind::kBool,
            false,
            "torchtitan: go on where an op is not deterministic",
            "every op of the deterministic mode is"),
      later("debug",
            "moe_force_load_balance",
            Kind::kBool,
            false,
            "torchtitan: even routing of experts",
            "there are no experts in this version"),
  };
}

std::vector<Key> profiling_keys() {
  const Section profiling("profiling", &RunConfig::profiling);
  return {
      profiling("enable_profiling",
                &Profiling::enable_profiling,
                "write what each rank did and when, and where the time went; recording itself is "
                "always on"),
      profiling("save_traces_folder",
                &Profiling::save_traces_folder,
                "where, below job.dump_folder: iteration_<step>/trace.json opens in Perfetto")
          .when("profiling.enable_profiling"),
      profiling(
          "profile_freq", &Profiling::profile_freq, "steps between two profiles; at least one")
          .at_least(1)
          .when("profiling.enable_profiling"),
      profiling("profiler_active",
                &Profiling::profiler_active,
                "how many steps a profile holds: the last ones, as far as the recorder's 65,536 "
                "spans a rank reach")
          .at_least(1)
          .when("profiling.enable_profiling"),
  };
}

}  // namespace brigade::config
