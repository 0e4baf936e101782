// SPDX-License-Identifier: Apache-2.0
// PartitionSpec's text form, both ways.
#include <string>
#include <utility>
#include <vector>

#include "parallel/base/text.h"
#include "parallel/sharding/partition_spec.h"
#include "parallel/sharding/scanner.h"

namespace brigade::sharding {
namespace {

std::string dim_text(const PartitionSpec::Dim& axes) {
  if (axes.empty()) {
    return "None";
  }
  std::vector<std::string> quoted;
  for (const std::string& axis : axes) {
    quoted.push_back(concat('"', axis, '"'));
  }
  return quoted.size() == 1 ? quoted.front() : concat('(', join(quoted), ')');
}

Result<std::string> parse_quoted(Scanner& in) {
  const char quote = in.take('"') ? '"' : '\'';
  if (quote == '\'' && !in.take('\'')) {
    return in.expected("None, an axis in quotes or a tuple of them");
  }
  std::string axis = in.word();
  if (axis.empty()) {
    return in.expected("the name of an axis");
  }
  if (!in.take(quote)) {
    return in.expected("the closing quote");
  }
  return axis;
}

Result<PartitionSpec::Dim> parse_tuple(Scanner& in) {
  PartitionSpec::Dim axes;
  while (!in.take(')')) {
    Result<std::string> axis = parse_quoted(in);
    if (!axis) {
      return fail(axis.error());
    }
    axes.push_back(std::move(*axis));
    if (in.take(')')) {
      break;
    }
    if (!in.take(',')) {
      return in.expected(", or )");
    }
  }
  return axes;
}

Result<PartitionSpec::Dim> parse_dim(Scanner& in) {
  if (in.take('(')) {
    return parse_tuple(in);
  }
  Scanner ahead = in;
  if (ahead.word() == "None") {
    in = ahead;
    return PartitionSpec::Dim();
  }
  Result<std::string> axis = parse_quoted(in);
  if (!axis) {
    return fail(axis.error());
  }
  return PartitionSpec::Dim{std::move(*axis)};
}

}  // namespace

Result<PartitionSpec> PartitionSpec::parse(std::string_view text) {
  Scanner in(text);
  if (!in.take('(')) {
    return in.expected("(");
  }
  std::vector<Dim> dims;
  while (!in.take(')')) {
    Result<Dim> dim = parse_dim(in);
    if (!dim) {
      return fail(dim.error());
    }
    dims.push_back(std::move(*dim));
    if (in.take(')')) {
      break;
    }
    if (!in.take(',')) {
      return in.expected(", or )");
    }
  }
  Result<AxisSets> sets = in.axis_sets();
  if (!sets) {
    return fail(sets.error());
  }
  if (!in.at_end()) {
    return in.expected("the end");
  }
  return PartitionSpec(std::move(dims))
      .with_unreduced(std::move(sets->unreduced), sets->kind)
      .with_reduced(std::move(sets->reduced));
}

std::string PartitionSpec::to_string() const {
  std::vector<std::string> dims;
  for (size_t at = 0; at < this->dims(); ++at) {
    dims.push_back(dim_text(dim(at)));
  }
  return concat('(',
                join(dims),
                ')',
                sharding::to_string(AxisSets{unreduced(), reduced(), unreduced_kind()}));
}

}  // namespace brigade::sharding
