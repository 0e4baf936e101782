// SPDX-License-Identifier: Apache-2.0
// [parallelism] [comm] [launch]
#include "trainer/config/keys.h"

namespace brigade::config {
namespace {

constexpr char kOnlyShard[] = "only parallelism.data_parallel_shard_degree may be -1";

std::vector<Key> degree_keys() {
  const Section parallelism("parallelism", &RunConfig::parallelism);
  return {
      parallelism("data_parallel_replicate_degree",
                  &Parallelism::data_parallel_replicate_degree,
                  "data ranks with whole states; the slow axis of hybrid sharding")
          .at_least(1)
          .at_most(4096)
          .noting(kOnlyShard),
      parallelism("data_parallel_shard_degree",
                  &Parallelism::data_parallel_shard_degree,
                  "data ranks that share states by ZeRO; -1: the ranks that the others leave")
          .at_least(1)
          .at_most(4096)
          .or_value(-1),
      parallelism("tensor_parallel_degree",
                  &Parallelism::tensor_parallel_degree,
                  "ranks that split every layer")
          .at_least(1)
          .at_most(4096)
          .noting(kOnlyShard),
      parallelism("pipeline_parallel_degree",
                  &Parallelism::pipeline_parallel_degree,
                  "ranks that hold consecutive layers")
          .at_least(1)
          .at_most(4096)
          .noting(kOnlyShard),
      parallelism("sequence_parallel",
                  &Parallelism::sequence_parallel,
                  "tensor ranks also share the sequence between the layers' products: fewer bytes "
                  "of activations, the same bytes sent"),
  };
}

std::vector<Key> pipeline_keys() {
  const Section parallelism("parallelism", &RunConfig::parallelism);
  const std::string even_split = "stages hold equal numbers of layers as nearly as they divide";
  return {
      parallelism("pipeline_parallel_schedule",
                  &Parallelism::pipeline_parallel_schedule,
                  "order of forwards and backwards")
          .one_of({"1F1B", "GPipe"})
          .asking({"Interleaved1F1B",
                   "InterleavedZeroBubble",
                   "LoopedBFS",
                   "ZBVZeroBubble",
                   "DualPipeV",
                   "PipelineScheduleSingle",
                   "PipelineScheduleMulti"},
                  "1F1B and GPipe work in this version")
          .when("parallelism.pipeline_parallel_degree"),
      parallelism("pipeline_parallel_microbatch_size",
                  &Parallelism::pipeline_parallel_microbatch_size,
                  "sequences of one forward with a pipeline; training.microbatch_size goes first")
          .at_least(1),
      later("parallelism",
            "pipeline_parallel_schedule_csv",
            Kind::kString,
            std::string(),
            "a file of actions",
            "schedules are generated in this version")
          .when("parallelism.pipeline_parallel_degree"),
      later("parallelism",
            "pipeline_parallel_layers_per_stage",
            Kind::kInteger,
            std::nullopt,
            "layers of one stage",
            even_split)
          .when("parallelism.pipeline_parallel_degree"),
      later("parallelism",
            "pipeline_parallel_first_stage_less_layers",
            Kind::kInteger,
            int64_t{1},
            "the embedding, counted as this many layers",
            even_split)
          .when("parallelism.pipeline_parallel_degree"),
      later("parallelism",
            "pipeline_parallel_last_stage_less_layers",
            Kind::kInteger,
            int64_t{1},
            "the head, counted as this many layers",
            even_split)
          .when("parallelism.pipeline_parallel_degree"),
      later("parallelism",
            "module_fqns_per_model_part",
            Kind::kAnything,
            std::nullopt,
            "torchtitan: modules of each stage by name",
            even_split),
      later("parallelism",
            "pipeline_parallel_expert_parallel_overlap",
            Kind::kBool,
            true,
            "torchtitan: overlap of experts with a pipeline",
            "there are no experts in this version"),
  };
}

std::vector<Key> other_parallelism_keys() {
  const std::string table = "parallelism";
  return {
      later(table,
            "disable_loss_parallel",
            Kind::kBool,
            false,
            "gather the logits before the loss",
            "the loss is always computed from logits split over the vocabulary"),
      later(table,
            "enable_async_tensor_parallel",
            Kind::kBool,
            false,
            "torchtitan: products overlapped with tensor collectives",
            "it needs a compiler that is not here"),
  };
}

std::vector<Key> context_and_expert_keys() {
  const std::string table = "parallelism";
  const std::string no_context = "sequences are not split over ranks in this version";
  const std::string no_experts = "there are no experts in this version";
  return {
      later(table,
            "context_parallel_degree",
            Kind::kInteger,
            int64_t{1},
            "ranks along the sequence",
            no_context),
      later(table,
            "context_parallel_load_balancer",
            Kind::kString,
            std::string("headtail"),
            "how the sequence is cut",
            no_context)
          .when("parallelism.context_parallel_degree"),
      later(table,
            "context_parallel_rotate_method",
            Kind::kString,
            std::string("allgather"),
            "how keys and values travel",
            no_context)
          .when("parallelism.context_parallel_degree"),
      later(table,
            "expert_parallel_degree",
            Kind::kInteger,
            int64_t{1},
            "ranks over experts",
            no_experts),
      later(table,
            "expert_tensor_parallel_degree",
            Kind::kInteger,
            int64_t{1},
            "ranks inside an expert",
            no_experts),
      later(table,
            "expert_parallel_comm_backend",
            Kind::kString,
            std::string("standard"),
            "torchtitan: transport of tokens to experts",
            no_experts)
          .when("parallelism.expert_parallel_degree"),
  };
}

std::vector<Key> comm_keys() {
  const Section comm("comm", &RunConfig::comm);
  const Section launch("launch", &RunConfig::launch);
  const std::string recorder = "there is no flight recorder in this version";
  return {
      comm("init_timeout_seconds",
           &Comm::init_timeout_seconds,
           "deadline of rendezvous and of the first step")
          .at_least(1),
      comm("train_timeout_seconds",
           &Comm::train_timeout_seconds,
           "deadline of every wait from the second step on")
          .at_least(1),
      later("comm",
            "mode",
            Kind::kString,
            std::string("default"),
            "torchtitan: default, fake_backend or local_tensor",
            "ranks are real in this version"),
      later("comm", "trace_buf_size", Kind::kInteger, int64_t{20000}, "flight recorder", recorder),
      later("comm",
            "save_traces_folder",
            Kind::kString,
            std::string("comm_traces"),
            "flight recorder",
            recorder),
      later("comm",
            "save_traces_file_prefix",
            Kind::kString,
            std::string("rank_"),
            "flight recorder",
            recorder),
      launch("ranks",
             &Launch::ranks,
             "ranks to start where no launcher says and data_parallel_shard_degree is -1")
          .at_least(1)
          .at_most(4096),
      launch("threads_per_rank", &Launch::threads_per_rank, "compute threads of one rank")
          .at_least(1)
          .at_most(1024),
  };
}

}  // namespace

std::vector<Key> parallelism_keys() {
  std::vector<Key> rows = degree_keys();
  for (auto part :
       {zero_keys, pipeline_keys, other_parallelism_keys, context_and_expert_keys, comm_keys}) {
    std::vector<Key> more = part();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace brigade::config
