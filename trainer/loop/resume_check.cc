// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/resume_check.h"

#include <algorithm>
#include <array>
#include <optional>

#include "parallel/base/text.h"
#include "trainer/config/flat.h"
#include "trainer/config/load.h"
#include "trainer/loop/agreement.h"
#include "trainer/loop/update.h"

namespace brigade::loop {
namespace {

using Values = std::map<std::string, std::string>;

/// A key that has to stay, and the word that lets it go.
struct Fixed {
  const char* key;
  const char* word;  ///< of checkpoint.allow_changes; "" if nothing allows it
};

constexpr std::array kFixedKeys = {Fixed{"model.name", ""},
                                   Fixed{"model.dim", ""},
                                   Fixed{"model.n_layers", ""},
                                   Fixed{"model.n_heads", ""},
                                   Fixed{"model.n_kv_heads", ""},
                                   Fixed{"model.ffn_dim", ""},
                                   Fixed{"model.vocab_size", ""},
                                   Fixed{"model.rope_theta", ""},
                                   Fixed{"model.norm_eps", ""},
                                   Fixed{"model.tie_embeddings", ""},
                                   Fixed{"model.n_positions", ""},
                                   Fixed{"training.seq_len", "seq_len"},
                                   Fixed{"debug.seed", "seed"},
                                   Fixed{"optimizer.name", "optimizer"}};

constexpr std::array kFixedFacts = {Fixed{"global_batch", "global_batch"},
                                    Fixed{"data_fingerprint", "data"}};

/// Tables of which no key changes what is learned.
constexpr std::array<std::string_view, 5> kSilentTables = {
    "job", "checkpoint", "metrics", "launch", "comm"};

std::string value_at(const Values& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? "unset" : found->second;
}

bool is_allowed(const config::RunConfig& config, std::string_view word) {
  const std::vector<std::string>& words = config.checkpoint.allow_changes;
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Which sample is which depends on the seed and on the length of a sample, too.
bool decides_the_data(const Values& before, const Values& now) {
  for (const char* key : {"debug.seed", "training.seq_len"}) {
    if (value_at(before, key) != value_at(now, key)) {
      return true;
    }
  }
  return false;
}

std::string change(const Fixed& fixed, const std::string& before, const std::string& now) {
  return concat("\n  ",
                fixed.key,
                ": ",
                before,
                " in the checkpoint, ",
                now,
                " now",
                *fixed.word == '\0' ? std::string()
                                    : concat(" (checkpoint.allow_changes=\"", fixed.word, "\")"));
}

bool is_silent(std::string_view key) {
  const std::string_view table = key.substr(0, key.find('.'));
  return std::find(kSilentTables.begin(), kSilentTables.end(), table) != kSilentTables.end();
}

std::optional<double> rate_at(const config::RunConfig& config, int64_t step) {
  const Result<optim::LearningRateSchedule> rates = learning_rate_of(config);
  return rates ? std::optional(rates->at(step)) : std::nullopt;
}

/// The learning rate that the recipe of the checkpoint would have had.
std::optional<double> old_rate_at(const checkpoint::Manifest& manifest, int64_t step) {
  std::vector<std::string> settings;
  for (const auto& [key, value] : manifest.recipe) {
    settings.push_back(concat(key, '=', value));
  }
  const Result<config::RunConfig> before = config::load("", settings);
  return before ? rate_at(*before, step) : std::nullopt;
}

}  // namespace

Result<Values> resume_facts(const config::RunFacts& facts, const data::TokenSource& training) {
  Result<std::string> fingerprint = data_fingerprint(training);
  if (!fingerprint) {
    return fail(fingerprint.error());
  }
  return Values{{"global_batch", concat(facts.global_batch)},
                {"data", training.description()},
                {"data_fingerprint", std::move(*fingerprint)}};
}

Result<void> check_resumable(const checkpoint::Manifest& manifest,
                             const config::RunConfig& config,
                             const Values& facts) {
  const Values recipe = config::flat(config);
  std::string changes;
  const auto compare = [&](const Fixed& fixed, const Values& before, const Values& now) {
    const std::string was = value_at(before, fixed.key);
    const std::string is = value_at(now, fixed.key);
    if (was != is && !is_allowed(config, fixed.word)) {
      changes += change(fixed, was, is);
    }
  };
  for (const Fixed& fixed : kFixedKeys) {
    compare(fixed, manifest.recipe, recipe);
  }
  for (const Fixed& fixed : kFixedFacts) {
    if (std::string_view(fixed.word) == "data" && decides_the_data(manifest.recipe, recipe)) {
      continue;
    }
    compare(fixed, manifest.facts, facts);
  }
  if (changes.empty()) {
    return {};
  }
  return fail(ErrorCode::kUsage,
              concat("the checkpoint of step ",
                     manifest.counters.step,
                     " was made with what may not change:",
                     changes,
                     "\nGo on with the values of the checkpoint, or start in another "
                     "job.dump_folder"));
}

std::vector<std::string> resume_remarks(const checkpoint::Manifest& manifest,
                                        const config::RunConfig& config) {
  std::vector<std::string> changes;
  const Values recipe = config::flat(config);
  for (const auto& [key, value] : recipe) {
    const std::string before = value_at(manifest.recipe, key);
    if (before != value && !is_silent(key)) {
      changes.push_back(concat(key, ' ', before, " -> ", value));
    }
  }
  for (const auto& [key, value] : manifest.recipe) {
    if (!recipe.contains(key) && !is_silent(key)) {
      changes.push_back(concat(key, ' ', value, " -> unset"));
    }
  }
  std::vector<std::string> lines;
  if (!changes.empty()) {
    lines.push_back(concat("changed since the checkpoint: ", join(changes, ", ")));
  }
  const int64_t next = manifest.counters.step + 1;
  const std::optional<double> before = old_rate_at(manifest, next);
  const std::optional<double> now = rate_at(config, next);
  if (before && now && *before != *now) {
    lines.push_back(concat("learning rate of step ",
                           next,
                           ": ",
                           *before,
                           " by the checkpoint's recipe, ",
                           *now,
                           " by this one, which holds from here on"));
  }
  return lines;
}

}  // namespace brigade::loop
