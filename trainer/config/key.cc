// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/key.h"

#include <cmath>

#include "parallel/base/text.h"

namespace brigade::config {
namespace {

/// 3.0 -> "3", 0.5 -> "0.5", 1e12 -> "1000000000000".
std::string bound_text(double bound) {
  const bool whole = std::abs(bound) < 0x1p53 && bound == std::floor(bound);
  return whole ? concat(static_cast<int64_t>(bound)) : concat(bound);
}

}  // namespace

std::string Key::accepted() const {
  if (!choices.empty()) {
    std::vector<std::string> shown;
    for (const std::string& choice : choices) {
      const bool quoted = kind == Kind::kString || kind == Kind::kStringList;
      shown.push_back(quoted ? concat('"', choice, '"') : choice);
    }
    return join(shown);
  }
  std::vector<std::string> parts;
  if (minimum) {
    parts.push_back(concat(minimum_excluded ? "above " : "at least ", bound_text(*minimum)));
  }
  if (maximum) {
    parts.push_back(concat(maximum_excluded ? "below " : "at most ", bound_text(*maximum)));
  }
  std::string text = join(parts, " and ");
  if (also) {
    text += concat(", or ", *also);
  }
  return text;
}

Key Key::at_least(double value) && {
  minimum = value;
  return std::move(*this);
}

Key Key::above(double value) && {
  minimum = value;
  minimum_excluded = true;
  return std::move(*this);
}

Key Key::at_most(double value) && {
  maximum = value;
  return std::move(*this);
}

Key Key::below(double value) && {
  maximum = value;
  maximum_excluded = true;
  return std::move(*this);
}

Key Key::or_value(int64_t value) && {
  also = value;
  return std::move(*this);
}

Key Key::noting(std::string text) && {
  remark = std::move(text);
  return std::move(*this);
}

Key Key::one_of(std::vector<std::string> texts) && {
  choices = std::move(texts);
  return std::move(*this);
}

Key Key::asking(std::vector<std::string> texts, std::string why) && {
  asks = std::move(texts);
  reason = std::move(why);
  return std::move(*this);
}

Key Key::when(std::string switch_name) && {
  matters_with = std::move(switch_name);
  return std::move(*this);
}

Key Key::only_with(std::string key_name, std::string value) && {
  owner_key = std::move(key_name);
  owner = std::move(value);
  return std::move(*this);
}

Key later(std::string table,
          std::string name,
          Kind kind,
          std::optional<Value> fallback,
          std::string help,
          std::string reason) {
  Key key;
  key.table = std::move(table);
  key.name = std::move(name);
  key.kind = kind;
  key.fallback = std::move(fallback);
  key.help = std::move(help);
  key.reason = std::move(reason);
  key.works = false;
  return key;
}

}  // namespace brigade::config
