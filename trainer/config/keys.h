// SPDX-License-Identifier: Apache-2.0
/// The key table: every key that a recipe may name, in the order in which a recipe is printed.
///
/// The vocabulary is torchtitan v0.2.2's, with keys of ours beside it. Declared here once; what
/// load() accepts, what --print-config and --help show and what the pages list all derive from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/config/key.h"

namespace brigade::config {

/// All keys, tables together.
const std::vector<Key>& keys();

/// The table names in order, each once: "job", "model", ..., "training.dataloader".
const std::vector<std::string>& tables();

/// nullptr when there is no such key.
const Key* find_key(std::string_view table, std::string_view name);
/// By "table.name".
const Key* find_key(std::string_view full_name);

/// The parts of the table, one file each.
std::vector<Key> model_keys();        ///< [model] [optimizer] [lr_scheduler]
std::vector<Key> training_keys();     ///< [training] [validation]
std::vector<Key> parallelism_keys();  ///< [parallelism] [comm] [launch]
std::vector<Key> zero_keys();         ///< those of [parallelism] that parallelism_keys() includes
std::vector<Key> recompute_keys();    ///< [activation_checkpoint]
std::vector<Key> checkpoint_keys();   ///< [checkpoint]
std::vector<Key> profiling_keys();    ///< [profiling]
std::vector<Key> run_keys();          ///< [job] [metrics] [debug]
std::vector<Key> later_keys();        ///< tables of which nothing works yet

}  // namespace brigade::config
