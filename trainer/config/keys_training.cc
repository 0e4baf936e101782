// SPDX-License-Identifier: Apache-2.0
// [training] [validation] and their [dataloader] tables
#include "trainer/config/keys.h"

namespace brigade::config {
namespace {

constexpr char kBatchRemark[] =
    "batch sizes count sequences; data_parallel_shard_degree is the only degree that may be -1";

std::vector<Key> loader_keys(const std::string& table) {
  const std::string why = "samples are cut from a mapped file; there are no loader workers";
  return {
      later(table, "num_workers", Kind::kInteger, int64_t{0}, "torchtitan: loader workers", why),
      later(table, "pin_memory", Kind::kBool, false, "torchtitan: page-locked batches", why),
      later(table, "persistent_workers", Kind::kBool, false, "torchtitan: keep workers", why),
      later(table,
            "prefetch_factor",
            Kind::kInteger,
            std::nullopt,
            "torchtitan: batches per worker",
            why),
  };
}

std::vector<Key> own_training_keys() {
  const Section training("training", &RunConfig::training);
  return {
      training("dataset",
               &Training::dataset,
               "\"synthetic\" makes its own tokens; with dataset_path any label"),
      training("dataset_path", &Training::dataset_path, "a local file, read as bytes"),
      training("local_batch_size",
               &Training::local_batch_size,
               "sequences of a data rank, where global_batch_size or microbatch_size is left out")
          .at_least(1)
          .at_most(1 << 24),
      training("global_batch_size",
               &Training::global_batch_size,
               "sequences of a step over all data ranks; -1: local_batch_size x data ranks")
          .at_least(1)
          .at_most(1 << 24)
          .or_value(-1),
      training("microbatch_size",
               &Training::microbatch_size,
               "sequences of one forward; left out: pipeline_parallel_microbatch_size with a "
               "pipeline, else local_batch_size")
          .at_least(1)
          .at_most(1 << 24)
          .noting(kBatchRemark),
      training("seq_len", &Training::seq_len, "tokens of one sequence")
          .at_least(1)
          .at_most(1 << 24),
      training("max_norm", &Training::max_norm, "clip the gradient's norm to this; 0: never")
          .at_least(0),
      training("steps", &Training::steps, "length of the run").at_least(1).at_most(1e12),
  };
}

std::vector<Key> numerics_keys() {
  const Section training("training", &RunConfig::training);
  return {
      training("on_nonfinite",
               &Training::on_nonfinite,
               "a NaN or infinite loss or gradient: stop the run or skip the step")
          .one_of({"stop", "skip"}),
      training("max_consecutive_skips",
               &Training::max_consecutive_skips,
               "stop after more skipped steps in a row than this")
          .at_least(0),
      training(
          "matmul", &Training::matmul, "whose matrix products; auto: the faster by measurement")
          .one_of({"auto", "onednn", "libtorch"}),
      training(
          "mixed_precision_param",
          &Training::mixed_precision_param,
          "type of weights, products and activations; with bfloat16 the optimizer keeps float32 "
          "masters, and norms, softmax and loss compute in float32")
          .one_of({"float32", "bfloat16"}),
      training("mixed_precision_reduce",
               &Training::mixed_precision_reduce,
               "type of gradients on the wire; sums add in float32")
          .one_of({"float32", "bfloat16"}),
      training("missing_gradients",
               &Training::missing_gradients,
               "what a parameter without a gradient in a step counts as: zeros, or an error that "
               "names it")
          .one_of({"zeros", "error"}),
      later("training",
            "dtype",
            Kind::kString,
            std::string("float32"),
            "type of the stored weights",
            "weights are stored in float32"),
      later("training",
            "enable_cpu_offload",
            Kind::kBool,
            false,
            "torchtitan: sharded states in host memory",
            "everything is in host memory already"),
      later("training",
            "gc_freq",
            Kind::kInteger,
            int64_t{50},
            "torchtitan: period of Python's garbage collector",
            "there is no garbage collector here"),
      later("training",
            "gc_debug",
            Kind::kBool,
            false,
            "torchtitan: report garbage",
            "there is no garbage collector here"),
  };
}

std::vector<Key> own_validation_keys() {
  const Section validation("validation", &RunConfig::validation);
  return {
      validation("enable", &Validation::enable, "measure a validation loss during the run"),
      validation("dataset", &Validation::dataset, "a label; the text comes from the keys below"),
      validation("dataset_path",
                 &Validation::dataset_path,
                 "a file of its own; left out: the last part of the training file"),
      validation("fraction",
                 &Validation::fraction,
                 "how much of the training file is held back for validation")
          .above(0)
          .below(1),
      validation("local_batch_size", &Validation::local_batch_size, "sequences of a data rank")
          .at_least(1),
      validation("seq_len", &Validation::seq_len, "tokens of one sequence").at_least(1),
      validation("freq", &Validation::freq, "steps between two validations").at_least(1),
      validation("steps", &Validation::steps, "batches of one validation; -1: all of the text")
          .at_least(1)
          .or_value(-1),
  };
}

}  // namespace

std::vector<Key> training_keys() {
  std::vector<Key> rows = own_training_keys();
  for (const std::vector<Key>& more : {numerics_keys(),
                                       loader_keys("training.dataloader"),
                                       own_validation_keys(),
                                       loader_keys("validation.dataloader")}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace brigade::config
