// SPDX-License-Identifier: Apache-2.0
// [model] [optimizer] [lr_scheduler]
#include "trainer/config/keys.h"

namespace brigade::config {
namespace {

std::vector<Key> architecture_keys() {
  const Section model("model", &RunConfig::model);
  return {
      model("name", &Model::name, "the family")
          .one_of({"llama3", "gpt2"})
          .asking({"llama4", "qwen3", "deepseek_v3", "gpt_oss", "flux"},
                  "the models here are the Llama family's and the GPT-2 family's decoders"),
      model("flavor", &Model::flavor, "the sizes; the keys below change single ones")
          .one_of({"debugmodel", "tiny", "small", "base"})
          .asking({"8B", "70B", "405B"}, "sizes beyond base are given by key"),
      model("dim", &Model::dim, "width of the residual stream").at_least(1).at_most(1 << 20),
      model("n_layers", &Model::n_layers, "decoder blocks").at_least(1).at_most(1 << 12),
      model("n_heads", &Model::n_heads, "query heads").at_least(1).at_most(1 << 12),
      model(
          "n_kv_heads", &Model::n_kv_heads, "key and value heads; n_heads when only that is given")
          .at_least(1)
          .only_with("model.name", "llama3"),
      model("ffn_dim", &Model::ffn_dim, "hidden width of the feed-forward")
          .at_least(1)
          .at_most(1 << 24),
      model("vocab_size", &Model::vocab_size, "token ids; text read as bytes needs 256")
          .at_least(2)
          .at_most(1 << 24),
      model("rope_theta", &Model::rope_theta, "base of the rotary frequencies")
          .above(0)
          .only_with("model.name", "llama3"),
      model("norm_eps", &Model::norm_eps, "added to the mean square, or the variance, in a norm")
          .at_least(0),
      model("tie_embeddings", &Model::tie_embeddings, "the head is the embedding"),
      model("n_positions", &Model::n_positions, "learned positions; no sequence is longer")
          .at_least(1)
          .at_most(1 << 24)
          .only_with("model.name", "gpt2"),
      model("dropout",
            &Model::dropout,
            "share of the embedding, and of what each half block adds, that a step drops")
          .at_least(0)
          .below(1)
          .only_with("model.name", "gpt2"),
      later("model",
            "hf_assets_path",
            Kind::kString,
            std::string("./tests/assets/tokenizer"),
            "torchtitan: folder of tokenizer and weights",
            "text is read as bytes and weights start fresh"),
      later("model",
            "tokenizer_path",
            Kind::kString,
            std::nullopt,
            "torchtitan: the older name of hf_assets_path",
            "text is read as bytes"),
      later("model",
            "converters",
            Kind::kStringList,
            std::vector<std::string>(),
            "torchtitan: float8 and other module swaps",
            "weights and products are float32"),
      later("model",
            "print_after_conversion",
            Kind::kBool,
            false,
            "torchtitan: print the converted model",
            "there are no converters")
          .when("model.converters"),
  };
}

std::vector<Key> optimizer_keys() {
  const Section optimizer("optimizer", &RunConfig::optimizer);
  return {
      optimizer("name", &Optimizer::name, "SGD is without momentum")
          .one_of({"AdamW", "SGD"})
          .asking({"Adam"}, "use AdamW (with weight_decay=0 it is Adam)"),
      optimizer("lr", &Optimizer::lr, "peak learning rate").at_least(0),
      optimizer("beta1", &Optimizer::beta1, "decay of the first moment")
          .at_least(0)
          .below(1)
          .only_with("optimizer.name", "AdamW"),
      optimizer("beta2", &Optimizer::beta2, "decay of the second moment")
          .at_least(0)
          .below(1)
          .only_with("optimizer.name", "AdamW"),
      optimizer("eps", &Optimizer::eps, "added to the root of the second moment")
          .at_least(0)
          .only_with("optimizer.name", "AdamW"),
      optimizer(
          "weight_decay", &Optimizer::weight_decay, "decoupled: weights shrink by lr times it")
          .at_least(0),
      optimizer("decay", &Optimizer::decay, "what weight_decay acts on")
          .one_of({"matrices", "all"}),
      later("optimizer",
            "implementation",
            Kind::kString,
            std::string("fused"),
            "torchtitan: for-loop, foreach or fused",
            "there is one implementation, and it is fused")
          .only_with("optimizer.name", "AdamW"),
      later("optimizer",
            "early_step_in_backward",
            Kind::kBool,
            false,
            "torchtitan: a step per parameter in backward",
            "the optimizer runs after the whole gradient is known"),
  };
}

std::vector<Key> schedule_keys() {
  const Section lr_scheduler("lr_scheduler", &RunConfig::lr_scheduler);
  return {
      lr_scheduler("warmup_steps", &LrScheduler::warmup_steps, "linear climb to lr").at_least(0),
      lr_scheduler("total_steps",
                   &LrScheduler::total_steps,
                   "length of the whole curve; training.steps when left out")
          .at_least(1),
      lr_scheduler("decay_ratio",
                   &LrScheduler::decay_ratio,
                   "share of the curve that decays; left out: all that follows the warm-up")
          .at_least(0)
          .at_most(1),
      lr_scheduler("decay_type", &LrScheduler::decay_type, "form of the decay")
          .one_of({"linear", "sqrt", "cosine"}),
      lr_scheduler("min_lr_factor", &LrScheduler::min_lr_factor, "the floor, as a share of lr")
          .at_least(0)
          .at_most(1),
  };
}

}  // namespace

std::vector<Key> model_keys() {
  std::vector<Key> rows = architecture_keys();
  for (auto part : {optimizer_keys, schedule_keys}) {
    std::vector<Key> more = part();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace brigade::config
