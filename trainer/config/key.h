// SPDX-License-Identifier: Apache-2.0
/// Key: one row of the key table. Parsing, checks, --print-config, --help and the pages derive from
/// it.
///
///   const Section training("training", &RunConfig::training);
///   training("seq_len", &Training::seq_len, "tokens of one sequence").at_least(1)
///   later("compile", "enable", Kind::kBool, false, "torch.compile", "there is no compiler here")
///
/// A key either *works* (it has a field), or is only *known*: accepted at its default, an "ask" at
/// any other value - a wish of the recipe that this version cannot follow, and says so by name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "trainer/config/run_config.h"
#include "trainer/config/value.h"

namespace brigade::config {

struct Key {
  std::string table;
  std::string name;
  Kind kind = Kind::kString;
  std::optional<Value> fallback;  ///< empty: unset unless given
  std::string help;
  bool works = true;

  std::optional<double> minimum;
  std::optional<double> maximum;
  bool minimum_excluded = false;
  bool maximum_excluded = false;
  std::optional<int64_t> also;       ///< one value below the minimum that is accepted too
  std::string remark;                ///< added to a message about the value
  std::vector<std::string> choices;  ///< plain texts, of a list its entries, that work; empty: all
  std::vector<std::string> asks;     ///< plain texts that are known and cannot be followed
  std::string reason;                ///< of an ask: what is not here
  std::string matters_with;          ///< "table.name" of a switch; while it is off, no asks
  std::string owner_key;  ///< "optimizer.name": refused unless that key has the value `owner`
  std::string owner;
  std::function<std::optional<Value>(const RunConfig&)> get;  ///< empty unless it works
  std::function<void(RunConfig&, const std::optional<Value>&)> set;

  std::string full_name() const { return table + '.' + name; }
  bool optional() const { return !fallback.has_value(); }
  /// "at least 1, or -1", `"1F1B", "GPipe"`: the accepted values, "" when the kind says it all.
  std::string accepted() const;

  Key at_least(double value) &&;
  Key above(double value) &&;
  Key at_most(double value) &&;
  Key below(double value) &&;
  Key or_value(int64_t value) &&;
  Key noting(std::string text) &&;
  Key one_of(std::vector<std::string> texts) &&;
  Key asking(std::vector<std::string> texts, std::string why) &&;
  Key when(std::string switch_name) &&;
  Key only_with(std::string key_name, std::string value) &&;
};

/// A key that is known and works at its default alone; an empty `fallback`: only when left out.
Key later(std::string table,
          std::string name,
          Kind kind,
          std::optional<Value> fallback,
          std::string help,
          std::string reason);

namespace detail {
template <class T>
struct Field {
  using Type = T;
  static constexpr bool kOptional = false;
};
template <class T>
struct Field<std::optional<T>> {
  using Type = T;
  static constexpr bool kOptional = true;
};

template <class T>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return Kind::kBool;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return Kind::kInteger;
  } else if constexpr (std::is_same_v<T, double>) {
    return Kind::kNumber;
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return Kind::kStringList;
  } else {
    static_assert(std::is_same_v<T, std::string>);
    return Kind::kString;
  }
}
}  // namespace detail

/// Makes the rows of one table of RunConfig.
template <class Struct>
class Section {
 public:
  Section(std::string table, Struct RunConfig::*member)
      : table_(std::move(table)), member_(member) {}

  template <class FieldType>
  Key operator()(std::string name, FieldType Struct::*field, std::string help) const {
    using Type = typename detail::Field<FieldType>::Type;
    Key key;
    key.table = table_;
    key.name = std::move(name);
    key.kind = detail::kind_of<Type>();
    key.help = std::move(help);
    key.get = [member = member_, field](const RunConfig& config) -> std::optional<Value> {
      const FieldType& value = config.*member.*field;
      if constexpr (detail::Field<FieldType>::kOptional) {
        return value ? std::optional<Value>(*value) : std::nullopt;
      } else {
        return Value(value);
      }
    };
    key.set = [member = member_, field](RunConfig& config, const std::optional<Value>& value) {
      if constexpr (detail::Field<FieldType>::kOptional) {
        config.*member.*field = value ? FieldType(std::get<Type>(*value)) : FieldType(std::nullopt);
      } else {
        config.*member.*field = std::get<Type>(value.value());
      }
    };
    key.fallback = key.get(RunConfig());
    return key;
  }

 private:
  std::string table_;
  Struct RunConfig::*member_;
};

}  // namespace brigade::config
