// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/checks.h"

#include <algorithm>
#include <cmath>
#include <strings.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/config/keys.h"

namespace brigade::config {
namespace {

bool holds(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// For messages and for comparing with choices: a string as it is.
std::string choice_text(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : toml_text(value);
}

/// As nearest_name, but another case alone is the nearest of all.
std::optional<std::string> nearest_choice(const std::string& text,
                                          const std::vector<std::string>& choices) {
  const auto same = std::find_if(choices.begin(), choices.end(), [&](const std::string& choice) {
    return strcasecmp(choice.c_str(), text.c_str()) == 0;
  });
  return same != choices.end() ? *same : nearest_name(text, choices);
}

/// What choices are compared with: each entry of a list, else the value.
std::vector<Value> parts_of(const Value& value) {
  const auto* items = std::get_if<std::vector<std::string>>(&value);
  return items != nullptr ? std::vector<Value>(items->begin(), items->end()) : std::vector{value};
}

bool any_asks(const Key& key, const Value& value) {
  const std::vector<Value> parts = parts_of(value);
  return std::any_of(parts.begin(), parts.end(), [&key](const Value& part) {
    return holds(key.asks, choice_text(part));
  });
}

/// The first part that is neither a choice nor an ask.
std::optional<Value> not_a_choice(const Key& key, const Value& value) {
  if (key.choices.empty()) {
    return std::nullopt;
  }
  for (const Value& part : parts_of(value)) {
    const std::string text = choice_text(part);
    if (!holds(key.choices, text) && !holds(key.asks, text)) {
      return part;
    }
  }
  return std::nullopt;
}

bool in_range(const Key& key, const Value& value) {
  const auto* integer = std::get_if<int64_t>(&value);
  const auto* number = std::get_if<double>(&value);
  if (integer == nullptr && number == nullptr) {
    return true;
  }
  if (integer != nullptr && key.also == *integer) {
    return true;
  }
  const double size = integer != nullptr ? static_cast<double>(*integer) : *number;
  const bool low =
      key.minimum && (size < *key.minimum || (key.minimum_excluded && size <= *key.minimum));
  const bool high =
      key.maximum && (size > *key.maximum || (key.maximum_excluded && size >= *key.maximum));
  return std::isfinite(size) && !low && !high;
}

class ValueCheck {
 public:
  ValueCheck(const Settings& settings, Problems& problems)
      : settings_(settings), problems_(problems) {}

  void key(const Key& key) {
    const Setting* given = settings_.given(key);
    if (given == nullptr || !given->value || refused_by_owner(key)) {
      return;
    }
    const Value& value = *given->value;
    if (!key.works) {
      if (given->value != key.fallback && matters(key)) {
        ask(key, value);
      }
    } else if (const std::optional<Value> unknown = not_a_choice(key, value)) {
      unknown_choice(key, *unknown);
    } else if (any_asks(key, value)) {
      if (matters(key)) {
        ask(key, value);
      }
    } else if (!in_range(key, value)) {
      const std::string accepted = key.accepted();
      problems_.add(settings_.place(key),
                    concat(key.full_name(),
                           " must be ",
                           accepted.empty() ? std::string("finite") : accepted,
                           ", found ",
                           toml_text(value),
                           key.remark.empty() ? "" : concat("; ", key.remark)),
                    &key);
    }
  }

 private:
  bool refused_by_owner(const Key& key) {
    if (key.owner_key.empty()) {
      return false;
    }
    const std::string owner = std::get<std::string>(*settings_.value(key.owner_key));
    const Key* name = find_key(key.owner_key);
    if (key.owner == owner || !holds(name->choices, owner)) {
      return false;
    }
    problems_.add(settings_.place(key),
                  concat('`',
                         key.name,
                         "` belongs to ",
                         key.owner,
                         "; with ",
                         key.owner_key,
                         " = \"",
                         owner,
                         "\" (",
                         settings_.place(*name).text,
                         ") it must be left out"),
                  &key);
    return true;
  }

  /// Whether the switch that the key hangs on is on; without one it always matters.
  bool matters(const Key& key) const {
    if (key.matters_with.empty()) {
      return true;
    }
    const std::optional<Value> value = settings_.value(key.matters_with);
    return value && is_on(*value);
  }

  void ask(const Key& key, const Value& value) {
    const Value* instead = key.fallback ? &*key.fallback : nullptr;
    const std::string remedy =
        concat(key.full_name(),
               '=',
               instead != nullptr ? plain_text(*instead)
                                  : (key.choices.empty() ? "" : key.choices.front()));
    problems_.ask(settings_.place(key),
                  concat(key.full_name(), " = ", toml_text(value), ": ", key.reason),
                  remedy,
                  &key);
  }

  void unknown_choice(const Key& key, const Value& value) {
    std::vector<std::string> known = key.choices;
    known.insert(known.end(), key.asks.begin(), key.asks.end());
    const std::optional<std::string> near = nearest_choice(choice_text(value), known);
    problems_.add(settings_.place(key),
                  concat(key.kind == Kind::kStringList ? "entries of " : "",
                         key.full_name(),
                         " must be one of ",
                         key.accepted(),
                         ", found ",
                         toml_text(value),
                         near ? concat("; the nearest is \"", *near, '"') : ""),
                  &key);
  }

  const Settings& settings_;
  Problems& problems_;
};

class CombinationCheck {
 public:
  CombinationCheck(const RunConfig& config, const Settings& settings, Problems& problems)
      : config_(config), settings_(settings), problems_(problems) {}

  void model() {
    const Model& m = config_.model;
    if (spoiled("model", {"dim", "n_heads", "n_kv_heads", "flavor"})) {
      return;
    }
    if (m.dim % m.n_heads != 0) {
      add("model",
          {"dim", "n_heads", "flavor"},
          concat("dim ",
                 m.dim,
                 " cannot be split into ",
                 m.n_heads,
                 " heads; the nearest dims are ",
                 std::max<int64_t>(1, m.dim / m.n_heads) * m.n_heads,
                 " and ",
                 (m.dim / m.n_heads + 1) * m.n_heads));
    } else if (m.name == "llama3" && m.dim / m.n_heads % 2 != 0) {
      add("model",
          {"dim", "n_heads", "flavor"},
          concat("a head is ",
                 m.dim / m.n_heads,
                 " wide (dim ",
                 m.dim,
                 " / n_heads ",
                 m.n_heads,
                 "), but rotary positions turn pairs: it must be even"));
    }
    if (m.n_heads % m.n_kv_heads != 0) {
      add("model",
          {"n_kv_heads", "n_heads", "flavor"},
          concat(m.n_heads,
                 " query heads cannot share ",
                 m.n_kv_heads,
                 " key and value heads; n_kv_heads may be ",
                 join(divisors(m.n_heads))));
    }
    positions();
  }

  void data() {
    const Training& t = config_.training;
    if (spoiled("training", {"dataset", "dataset_path"})) {
      return;
    }
    const bool synthetic = t.dataset == "synthetic";
    if (synthetic && t.dataset_path) {
      add("training",
          {"dataset_path"},
          concat("dataset = \"synthetic\" makes its own tokens and reads no file; leave out "
                 "training.dataset_path (\"",
                 *t.dataset_path,
                 "\") or name another dataset"));
    } else if (!synthetic && !t.dataset_path) {
      problems_.ask(place("training", {"dataset"}),
                    concat("training.dataset = \"",
                           t.dataset,
                           "\": named data sets are fetched "
                           "from the network, and this version reads local files "
                           "(training.dataset=synthetic needs none)"),
                    "training.dataset_path=FILE");
    }
    if (t.dataset_path && config_.model.vocab_size < 256) {
      add("model",
          {"vocab_size"},
          concat("text is read as bytes, so model.vocab_size must be at least 256, found ",
                 config_.model.vocab_size));
    }
    validation();
  }

 private:
  void positions() {
    const int64_t longest = config_.model.n_positions;
    if (config_.model.name == "gpt2" && config_.training.seq_len > longest) {
      add("training",
          {"seq_len"},
          concat("a sequence of ",
                 config_.training.seq_len,
                 " tokens is longer than model.n_positions = ",
                 longest,
                 "; set training.seq_len to at most ",
                 longest,
                 ", or n_positions to more"));
    }
  }

  void validation() {
    const Validation& v = config_.validation;
    if (v.enable && !v.dataset_path && !config_.training.dataset_path) {
      add("validation",
          {"enable"},
          "validation needs a file: set training.dataset_path (its last part is held back) or "
          "validation.dataset_path");
    }
    if (v.dataset_path && settings_.given(*find_key("validation", "fraction")) != nullptr) {
      add("validation",
          {"fraction"},
          "validation.fraction cuts the training file, but validation.dataset_path names a file of "
          "its own; leave out one of them");
    }
  }

  static std::vector<int64_t> divisors(int64_t value) {
    std::vector<int64_t> out;
    for (int64_t d = 1; d <= value && out.size() < 16; ++d) {
      if (value % d == 0) {
        out.push_back(d);
      }
    }
    return out;
  }

  /// Where the first of `names` that was given stands.
  Place place(std::string_view table, const std::vector<std::string>& names) const {
    for (const std::string& name : names) {
      const Key* key = find_key(table, name);
      BRIGADE_CHECK(key != nullptr, table, name);
      if (const Setting* given = settings_.given(*key)) {
        return given->place;
      }
    }
    return {};
  }

  bool spoiled(std::string_view table, const std::vector<std::string>& names) const {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return problems_.spoiled(*find_key(table, name));
    });
  }

  void add(std::string_view table, const std::vector<std::string>& names, std::string text) {
    problems_.add(place(table, names), std::move(text));
  }

  const RunConfig& config_;
  const Settings& settings_;
  Problems& problems_;
};

}  // namespace

void check_values(const Settings& settings, Problems& problems) {
  ValueCheck check(settings, problems);
  for (const Key& key : keys()) {
    check.key(key);
  }
}

void check_combinations(const RunConfig& config, const Settings& settings, Problems& problems) {
  CombinationCheck check(config, settings, problems);
  check.model();
  check.data();
  check_checkpoint(config, settings, problems);
}

}  // namespace brigade::config
