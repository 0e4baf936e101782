// SPDX-License-Identifier: Apache-2.0
// What a rank keeps in memory and for how long: the keys of ZeRO in [parallelism], and
// [activation_checkpoint].
#include "trainer/config/keys.h"

namespace brigade::config {

std::vector<Key> zero_keys() {
  const Section parallelism("parallelism", &RunConfig::parallelism);
  return {
      parallelism("zero_stage",
                  &Parallelism::zero_stage,
                  "what dp_shard shares: 0 nothing, 1 optimizer states, 2 gradients as well, 3 "
                  "weights as well; left out: 1 when dp_shard is above 1, else 0")
          .at_least(0)
          .at_most(3),
      parallelism("reduce_gradients",
                  &Parallelism::reduce_gradients,
                  "when gradients are reduced: once a step, from sums of full size kept over its "
                  "microbatches, or after each microbatch, m times the bytes and shards alone kept "
                  "(zero_stage 2 and 3); left out: step at stages 0 and 1 and with "
                  "debug.deterministic, microbatch at 2 and 3")
          .one_of({"step", "microbatch"}),
      parallelism("fsdp_prefetch",
                  &Parallelism::fsdp_prefetch,
                  "zero_stage 3: units (embedding, a block, the head) that are gathered ahead of "
                  "the one that computes; each costs its weights in memory")
          .at_least(0)
          .at_most(1024),
      parallelism("fsdp_reshard_after_forward",
                  &Parallelism::fsdp_reshard_after_forward,
                  "zero_stage 3: always frees a unit's gathered weights after its forward, never "
                  "keeps them from their first use in a step to the last: two thirds of the bytes "
                  "and less, and all weights in memory; default means always")
          .one_of({"default", "always", "never"}),
      parallelism("fsdp_replicate_below",
                  &Parallelism::fsdp_replicate_below,
                  "zero_stage 3: parameters of fewer elements stay whole on every data rank: "
                  "gathers of fewer and larger pieces, against their memory")
          .at_least(0),
  };
}

std::vector<Key> recompute_keys() {
  const Section recompute("activation_checkpoint", &RunConfig::activation_checkpoint);
  const auto unused =
      [](std::string name, Kind kind, Value value, std::string help, std::string why) {
        return later("activation_checkpoint",
                     std::move(name),
                     kind,
                     std::move(value),
                     "torchtitan: " + help,
                     std::move(why))
            .when("activation_checkpoint.mode");
      };
  const std::string no_budget = "there is no memory_budget mode";
  return {
      recompute("mode",
                &ActivationCheckpoint::mode,
                "what of a block's forward is computed again in its backward, instead of kept: "
                "none; selective: see selective_ac_option; full: all of it, only its input is kept")
          .one_of({"none", "selective", "full"})
          .asking({"memory_budget"}, "none, selective and full work in this version"),
      recompute("selective_ac_option",
                &ActivationCheckpoint::selective_ac_option,
                "op: results of matrix products are kept and the rest is computed again; a number "
                "n: every n-th block is computed again whole"),
      unused("early_stop", Kind::kBool, false, "stop recomputing early", "units recompute whole"),
      unused("memory_budget", Kind::kNumber, 0.5, "share of activations to keep", no_budget),
      unused("visualize_memory_budget_pareto", Kind::kBool, false, "draw the trade", no_budget),
      unused("preserve_rng_state",
             Kind::kBool,
             true,
             "same random numbers again",
             "random numbers are functions of their place: they are always the same again"),
      unused("determinism_check",
             Kind::kString,
             std::string("default"),
             "compare recomputed tensors",
             "there is no such check"),
      unused("debug", Kind::kBool, false, "trace recomputation", "there is no such trace"),
      unused("per_op_sac_force_recompute_mm_shapes_by_fqns",
             Kind::kStringList,
             std::vector<std::string>{"moe.router.gate"},
             "products to recompute",
             "all products are kept"),
  };
}

}  // namespace brigade::config
