// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "parallel/base/text.h"
#include "trainer/config/keys.h"
#include "trainer/config/settings.h"

namespace brigade::config {
namespace {

/// Names from other trainers that people type, and the key here that means the same.
struct Alias {
  const char* elsewhere;
  const char* table;
  const char* name;
};
constexpr std::array kAliases = {
    Alias{"learning_rate", "optimizer", "lr"},
    Alias{"wd", "optimizer", "weight_decay"},
    Alias{"betas", "optimizer", "beta1"},
    Alias{"epsilon", "optimizer", "eps"},
    Alias{"batch_size", "training", "local_batch_size"},
    Alias{"micro_batch_size", "training", "microbatch_size"},
    Alias{"gradient_accumulation_steps", "training", "global_batch_size"},
    Alias{"grad_clip", "training", "max_norm"},
    Alias{"clip_grad_norm", "training", "max_norm"},
    Alias{"max_steps", "training", "steps"},
    Alias{"num_steps", "training", "steps"},
    Alias{"sequence_length", "training", "seq_len"},
    Alias{"context_length", "training", "seq_len"},
    Alias{"hidden_size", "model", "dim"},
    Alias{"num_layers", "model", "n_layers"},
    Alias{"num_hidden_layers", "model", "n_layers"},
    Alias{"num_attention_heads", "model", "n_heads"},
    Alias{"num_key_value_heads", "model", "n_kv_heads"},
    Alias{"intermediate_size", "model", "ffn_dim"},
    Alias{"tie_word_embeddings", "model", "tie_embeddings"},
    Alias{"rms_norm_eps", "model", "norm_eps"},
    Alias{"warmup", "lr_scheduler", "warmup_steps"},
    Alias{"random_seed", "debug", "seed"},
    Alias{"tp", "parallelism", "tensor_parallel_degree"},
    Alias{"pp", "parallelism", "pipeline_parallel_degree"},
    Alias{"dp", "parallelism", "data_parallel_shard_degree"},
    Alias{"output_dir", "job", "dump_folder"},
    Alias{"num_threads", "launch", "threads_per_rank"},
};

std::vector<std::string> tables_with(std::string_view name) {
  std::vector<std::string> found;
  for (const Key& key : keys()) {
    if (key.name == name) {
      found.push_back(concat('[', key.table, ']'));
    }
  }
  return found;
}

/// The key that `name` most likely means: in `table` if any is near there, else anywhere.
const Key* nearest_key(std::string_view table, std::string_view name) {
  std::vector<std::string> names;
  std::vector<const Key*> meant;
  for (const Key& key : keys()) {
    if (key.table == table) {
      names.push_back(key.name);
      meant.push_back(&key);
    }
  }
  const auto look_up = [&]() -> const Key* {
    const std::optional<std::string> near = nearest_name(name, names);
    if (!near) {
      return nullptr;
    }
    const auto at = std::find(names.begin(), names.end(), *near) - names.begin();
    return meant[static_cast<size_t>(at)];
  };
  if (const Key* key = look_up()) {
    return key;
  }
  for (const Alias& alias : kAliases) {
    names.emplace_back(alias.elsewhere);
    meant.push_back(find_key(alias.table, alias.name));
  }
  for (const Key& key : keys()) {
    names.push_back(key.name);
    meant.push_back(&key);
  }
  return look_up();
}

}  // namespace

std::string unknown_key_text(std::string_view table, std::string_view name) {
  const std::vector<std::string> homes = tables_with(name);
  const std::string where =
      table.empty() ? " stands outside any table" : concat(" is not a key of [", table, ']');
  if (!homes.empty()) {
    return concat('`', name, '`', where, "; it belongs to ", join(homes, " or "));
  }
  const std::string unknown =
      concat("unknown key `", name, '`', table.empty() ? " outside any table" : "");
  const std::string in_table = table.empty() ? "" : concat(" in [", table, ']');
  if (const Key* near = nearest_key(table, name)) {
    return concat(unknown,
                  in_table,
                  "; the nearest is `",
                  near->name,
                  '`',
                  near->table == table ? "" : concat(" of [", near->table, ']'));
  }
  if (table.empty()) {
    return concat(unknown, "; keys stand in tables: [", join(tables(), "], ["), ']');
  }
  std::vector<std::string> names;
  for (const Key& key : keys()) {
    if (key.table == table) {
      names.push_back(key.name);
    }
  }
  return concat(unknown, in_table, ", which takes ", join(names));
}

std::string unknown_table_text(std::string_view table) {
  const std::optional<std::string> near = nearest_name(table, tables());
  return concat("unknown table [",
                table,
                "]; ",
                near ? concat("the nearest is [", *near, ']')
                     : concat("the tables are [", join(tables(), "], ["), ']'));
}

}  // namespace brigade::config
