// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/diff.h"

#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "parallel/base/text.h"
#include "tools/inspect/table.h"
#include "tools/inspect/tensor_diff.h"

namespace brigade::inspect {
namespace {

using checkpoint::SourceTensor;
using Settings = std::map<std::string, std::string>;

std::string number(double value, int digits = std::numeric_limits<float>::max_digits10) {
  std::ostringstream out;
  out.precision(digits);
  out << value;
  return out.str();
}

std::string kind(const SourceTensor& tensor) {
  return concat(tensor.type, " [", join(tensor.shape), ']');
}

Settings counters_of(const checkpoint::Counters& counters) {
  return {{"counters.step", with_thousands(counters.step)},
          {"counters.samples", with_thousands(counters.samples)},
          {"counters.tokens", with_thousands(counters.tokens)},
          {"counters.updates", with_thousands(counters.updates)},
          {"counters.skips_in_a_row", with_thousands(counters.skips_in_a_row)}};
}

/// A table of the keys whose values differ; empty without any.
Table differing(const std::string& title, const Settings& a, const Settings& b) {
  Table table({{title}, {"A"}, {"B"}});
  Settings all = a;
  all.insert(b.begin(), b.end());
  const auto value = [](const Settings& settings, const std::string& key) -> std::string {
    const auto found = settings.find(key);
    return found == settings.end() ? "(not set)" : found->second;
  };
  for (const auto& [key, ignored] : all) {
    if (value(a, key) != value(b, key)) {
      table.add({key, value(a, key), value(b, key)});
    }
  }
  return table;
}

/// What is told of the tensors of two sources, as it is found.
class TensorReport {
 public:
  explicit TensorReport(std::optional<double> tolerance) : tolerance_(tolerance) {}

  void only_in(const char* which, const std::string& name, const SourceTensor& tensor) {
    unpaired_.add({concat("only in ", which), name, kind(tensor), ""});
    ++different_;
  }

  void other_kind(const std::string& name, const SourceTensor& a, const SourceTensor& b) {
    unpaired_.add({"another kind", name, kind(a), kind(b)});
    ++different_;
  }

  void compared(const std::string& name, const TensorDiff& diff) {
    if (diff.equal_bits) {
      ++equal_;
      return;
    }
    const bool within = tolerance_ && diff.has_values && diff.largest <= *tolerance_;
    ++(within ? within_ : different_);
    values_.add({name,
                 with_thousands(diff.differing),
                 diff.has_values ? number(diff.largest, 6) : "not numbers",
                 concat('[', join(diff.worst_at), ']'),
                 diff.has_values ? number(diff.worst_a) : "",
                 diff.has_values ? number(diff.worst_b) : "",
                 within ? "within tolerance" : "differs"});
  }

  Comparison result() const {
    std::string text = unpaired_.empty() ? "" : concat(unpaired_.text(), '\n');
    text += values_.empty() ? "" : concat(values_.text(), '\n');
    text += concat("tensors: ", with_thousands(equal_), " with equal bits");
    text +=
        tolerance_ ? concat(", ", with_thousands(within_), " within ", number(*tolerance_, 6)) : "";
    text += concat(", ", with_thousands(different_), " different\n");
    return {different_ == 0, text};
  }

 private:
  const std::optional<double> tolerance_;
  int64_t equal_ = 0;
  int64_t within_ = 0;
  int64_t different_ = 0;
  Table unpaired_ = Table({{""}, {""}, {""}, {""}});
  Table values_ = Table({{"tensor"},
                         {"elements", Align::kRight},
                         {"max |A - B|", Align::kRight},
                         {"worst at"},
                         {"A", Align::kRight},
                         {"B", Align::kRight},
                         {""}});
};

}  // namespace

Result<Comparison> compare_tensors(checkpoint::TensorSource& a,
                                   checkpoint::TensorSource& b,
                                   std::optional<double> tolerance) {
  TensorReport report(tolerance);
  for (const auto& [name, tensor] : a.tensors()) {
    const auto other = b.tensors().find(name);
    if (other == b.tensors().end()) {
      report.only_in("A", name, tensor);
    } else if (!(other->second == tensor)) {
      report.other_kind(name, tensor, other->second);
    } else if (const Result<TensorDiff> diff = compare(a, b, name)) {
      report.compared(name, *diff);
    } else {
      return fail(diff.error());
    }
  }
  for (const auto& [name, tensor] : b.tensors()) {
    if (!a.tensors().contains(name)) {
      report.only_in("B", name, tensor);
    }
  }
  return report.result();
}

Comparison compare_heads(const checkpoint::Manifest& a, const checkpoint::Manifest& b) {
  const Table counters = differing("counter", counters_of(a.counters), counters_of(b.counters));
  const Table recipe = differing("recipe", a.recipe, b.recipe);
  return {counters.empty(),
          concat(counters.empty() ? "counters: equal\n" : concat('\n', counters.text()),
                 recipe.empty() ? "recipes: equal\n" : concat('\n', recipe.text()))};
}

}  // namespace brigade::inspect
