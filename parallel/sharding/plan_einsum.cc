// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/op_plan.h"
#include "parallel/sharding/operand_specs.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {
namespace {

/// Index letters of the operands and of the result.
struct Equation {
  std::array<std::string, 2> operands;
  std::string result;
};

bool has_letter(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

Result<Equation> parse_equation(std::string_view text) {
  const size_t comma = text.find(',');
  const size_t arrow = text.find("->");
  if (comma == std::string_view::npos || arrow == std::string_view::npos || arrow < comma) {
    return fail(ErrorCode::kType,
                concat("einsum ", text, ": expected two operands and a result, as in bsd,hd->bsh"));
  }
  Equation equation{
      {std::string(text.substr(0, comma)), std::string(text.substr(comma + 1, arrow - comma - 1))},
      std::string(text.substr(arrow + 2))};
  for (const std::string& letters : {equation.operands[0], equation.operands[1], equation.result}) {
    for (size_t i = 0; i < letters.size(); ++i) {
      const char letter = letters[i];
      if (!(('a' <= letter && letter <= 'z') || ('A' <= letter && letter <= 'Z')) ||
          letters.find(letter, i + 1) != std::string::npos) {
        return fail(ErrorCode::kType,
                    concat("einsum ",
                           text,
                           ": expected letters, each once per operand; found '",
                           letter,
                           "' in ",
                           letters));
      }
    }
  }
  for (const char letter : equation.result) {
    if (!has_letter(equation.operands[0], letter) && !has_letter(equation.operands[1], letter)) {
      return fail(ErrorCode::kType,
                  concat("einsum ", text, ": no operand has index ", letter, " of the result"));
    }
  }
  return equation;
}

bool contains(const AxisNames& axes, const std::string& axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

class EinsumPlanner {
 public:
  EinsumPlanner(const mesh::Mesh& mesh,
                std::string_view text,
                Equation equation,
                std::span<const TensorType> operands,
                std::optional<PartitionSpec> out)
      : mesh_(mesh),
        text_(concat("einsum ", text)),
        equation_(std::move(equation)),
        operands_(operands),
        out_(out),
        specs_(mesh, text_, operands) {}

  Result<OpPlan> plan() {
    for (const auto stage : {&EinsumPlanner::check,
                             &EinsumPlanner::choose_contracted,
                             &EinsumPlanner::choose_batch,
                             &EinsumPlanner::drop_double_use,
                             &EinsumPlanner::find_terms,
                             &EinsumPlanner::check_out}) {
      if (Result<void> done = (this->*stage)(); !done) {
        return fail(done.error());
      }
    }
    return finish();
  }

 private:
  Result<void> check();
  Result<void> check_sizes() const;
  Result<void> choose_contracted();
  Result<void> contract(char letter);
  /// Two different splits of an index that both operands have.
  Result<void> refuse_unequal(std::string_view role, char letter) const;
  Result<void> choose_batch();
  Result<void> align_batch(char letter);
  Result<void> drop_double_use();
  Result<void> drop_axis(const std::string& axis);
  Result<void> find_terms();
  Result<void> check_out();
  tl::unexpected<Error> refuse_out(const Error& why) const {
    return specs_.error(
        concat("out=: ", why.text, " (of ", specs_.name(0), " and ", specs_.name(1), ")"),
        why.rule);
  }
  Result<OpPlan> finish();

  bool has(size_t operand, char letter) const {
    return has_letter(equation_.operands[operand], letter);
  }
  size_t dim(size_t operand, char letter) const { return equation_.operands[operand].find(letter); }
  const AxisNames& axes(size_t operand, char letter) const {
    return specs_.spec(operand).dim(dim(operand, letter));
  }
  char letter_split_by(size_t operand, std::string_view axis) const {
    return equation_.operands[operand][static_cast<size_t>(specs_.spec(operand).dim_of(axis))];
  }
  void because(std::string reason) { reasons_.push_back(std::move(reason)); }

  const mesh::Mesh& mesh_;
  std::string text_;
  Equation equation_;
  std::span<const TensorType> operands_;
  std::optional<PartitionSpec> out_;
  OperandSpecs specs_;
  AxisNames contracted_;  // over which the local result is one term of a sum
  std::string contracted_text_;
  std::vector<std::string> reasons_;
};

Result<void> EinsumPlanner::check() {
  if (Result<void> legal = specs_.check(false); !legal) {
    return legal;
  }
  if (operands_[0].dtype != operands_[1].dtype) {
    return specs_.error(concat("the operands' element types differ: ",
                               specs_.name(0),
                               ", ",
                               specs_.name(1),
                               "; cast one of them"));
  }
  for (size_t i = 0; i < 2; ++i) {
    if (operands_[i].global.size() != equation_.operands[i].size()) {
      return specs_.error(concat(specs_.name(i),
                                 " has ",
                                 operands_[i].global.size(),
                                 " dims, expected ",
                                 equation_.operands[i].size(),
                                 " as ",
                                 equation_.operands[i]));
    }
  }
  return check_sizes();
}

Result<void> EinsumPlanner::check_sizes() const {
  for (const char letter : equation_.operands[0]) {
    if (has(1, letter) &&
        operands_[0].global[dim(0, letter)] != operands_[1].global[dim(1, letter)]) {
      return specs_.error(concat("index ",
                                 letter,
                                 " has size ",
                                 operands_[0].global[dim(0, letter)],
                                 " in ",
                                 specs_.name(0),
                                 " and ",
                                 operands_[1].global[dim(1, letter)],
                                 " in ",
                                 specs_.name(1)));
    }
  }
  return {};
}

Result<void> EinsumPlanner::choose_contracted() {
  for (const char letter : equation_.operands[0]) {
    if (has(1, letter) && !has_letter(equation_.result, letter)) {
      if (Result<void> done = contract(letter); !done) {
        return done;
      }
    }
  }
  return {};
}

Result<void> EinsumPlanner::refuse_unequal(std::string_view role, char letter) const {
  return specs_.error(concat(role,
                             " index ",
                             letter,
                             " is split over ",
                             join(axes(0, letter)),
                             " in ",
                             specs_.name(0),
                             " and over ",
                             join(axes(1, letter)),
                             " in ",
                             specs_.name(1),
                             "; ",
                             role,
                             " dims need consistent sharding: reshard one of them"),
                      rule::kUnequalOperands);
}

Result<void> EinsumPlanner::contract(char letter) {
  const AxisNames& left = axes(0, letter);
  const AxisNames& right = axes(1, letter);
  if (left == right) {
    return {};
  }
  if (!left.empty() && !right.empty()) {
    return refuse_unequal("contracting", letter);
  }
  const size_t split = left.empty() ? 1 : 0;
  because(concat("contracting index ",
                 letter,
                 " is split over ",
                 join(axes(split, letter)),
                 " in operand ",
                 split,
                 " alone, which is gathered"));
  specs_.gather(split, dim(split, letter), 0);
  return {};
}

Result<void> EinsumPlanner::choose_batch() {
  for (const char letter : equation_.operands[0]) {
    if (has(1, letter) && has_letter(equation_.result, letter)) {
      if (Result<void> done = align_batch(letter); !done) {
        return done;
      }
    }
  }
  return {};
}

Result<void> EinsumPlanner::align_batch(char letter) {
  const AxisNames left = axes(0, letter);
  const AxisNames right = axes(1, letter);
  if (left == right) {
    return {};
  }
  if (!left.empty() && !right.empty()) {
    return refuse_unequal("batch", letter);
  }
  const size_t whole = left.empty() ? 0 : 1;
  because(concat("batch index ", letter, " of operand ", whole, " is sliced as the other's"));
  return specs_.slice(whole, dim(whole, letter), left.empty() ? right : left);
}

// An axis that splits different indices of the two operands: they would meet at diagonal blocks
// alone.
Result<void> EinsumPlanner::drop_double_use() {
  for (const mesh::Axis& axis : mesh_.axes()) {
    if (specs_.splits(0, axis.name) && specs_.splits(1, axis.name) &&
        letter_split_by(0, axis.name) != letter_split_by(1, axis.name)) {
      if (Result<void> done = drop_axis(axis.name); !done) {
        return done;
      }
    }
  }
  return {};
}

Result<void> EinsumPlanner::drop_axis(const std::string& axis) {
  const std::array<char, 2> letters = {letter_split_by(0, axis), letter_split_by(1, axis)};
  const int64_t kept_dim = out_ ? out_->dim_of(axis) : -1;
  for (size_t drop = 0; drop < 2 && kept_dim >= 0; ++drop) {
    const size_t keep = 1 - drop;
    const auto at = static_cast<size_t>(kept_dim);
    if (at < equation_.result.size() && equation_.result[at] == letters[keep] &&
        !has(drop, letters[keep]) && !has(keep, letters[drop])) {
      const AxisNames& split = axes(drop, letters[drop]);
      because(concat("index ",
                     letters[drop],
                     " of operand ",
                     drop,
                     " is gathered over ",
                     axis,
                     ", which out= keeps on index ",
                     letters[keep]));
      specs_.gather(
          drop,
          dim(drop, letters[drop]),
          static_cast<size_t>(std::find(split.begin(), split.end(), axis) - split.begin()));
      return {};
    }
  }
  return specs_.error(concat("the result would be illegally sharded: ",
                             axis,
                             " splits index ",
                             letters[0],
                             " of ",
                             specs_.name(0),
                             " and index ",
                             letters[1],
                             " of ",
                             specs_.name(1),
                             "; say with out= which of them stays split, or reshard one"));
}

// Runs when all dims are settled: what still splits a summed index makes the result a term of a
// sum.
Result<void> EinsumPlanner::find_terms() {
  for (size_t i = 0; i < 2; ++i) {
    for (const char letter : equation_.operands[i]) {
      const bool met = i == 1 && has(0, letter);
      if (met || has_letter(equation_.result, letter) || axes(i, letter).empty()) {
        continue;
      }
      contracted_.insert(contracted_.end(), axes(i, letter).begin(), axes(i, letter).end());
      contracted_text_ = concat("contracting index ",
                                letter,
                                " is split over ",
                                join(axes(i, letter)),
                                has(1 - i, letter) ? " in both operands" : " and summed");
      because(contracted_text_);
    }
  }
  return {};
}

Result<void> EinsumPlanner::check_out() {
  if (!out_) {
    return contracted_.empty()
               ? Result<void>()
               : specs_.error(concat(contracted_text_,
                                     " (",
                                     specs_.name(0),
                                     ", ",
                                     specs_.name(1),
                                     "), so each rank has one term of a sum: say with out= whether "
                                     "the result stays unreduced {U:",
                                     join(mesh_.in_mesh_order(contracted_), ","),
                                     "}, is all-reduced or scattered to a dim; or reshard"),
                              rule::kContraction);
  }
  if (Result<void> legal = out_->check(mesh_, equation_.result.size()); !legal) {
    return refuse_out(legal.error());
  }
  for (const std::string& axis : out_->unreduced()) {
    if (!contains(contracted_, axis)) {
      return specs_.error(concat("out= ",
                                 out_->to_string(),
                                 " is unreduced over ",
                                 axis,
                                 ", over which nothing is contracted: ",
                                 specs_.name(0),
                                 ", ",
                                 specs_.name(1)));
    }
  }
  return {};
}

Result<OpPlan> EinsumPlanner::finish() {
  Result<AxisNames> reduced = specs_.settle_copies({});
  if (!reduced) {
    return fail(reduced.error());
  }
  Result<std::vector<Casts>> casts = specs_.casts();
  if (!casts) {
    return fail(casts.error());
  }
  OpPlan plan;
  plan.inputs = std::move(*casts);
  plan.local_result.dtype = operands_[0].dtype;
  std::vector<AxisNames> dims;
  for (const char letter : equation_.result) {
    const size_t from = has(0, letter) ? 0 : 1;
    plan.local_result.global.push_back(operands_[from].global[dim(from, letter)]);
    dims.push_back(axes(from, letter));
  }
  plan.local_result.spec =
      PartitionSpec(std::move(dims)).with_unreduced(contracted_).with_reduced(std::move(*reduced));
  if (out_) {
    Result<Casts> output = plan_reshard(mesh_, plan.local_result, *out_);
    if (!output) {
      return refuse_out(output.error());
    }
    plan.output = std::move(*output);
  }
  plan.reason = concat(text_, ": ", reasons_.empty() ? "as typed" : join(reasons_, "; "));
  return plan;
}

}  // namespace

Result<OpPlan> plan_einsum(const mesh::Mesh& mesh,
                           std::string_view equation,
                           const TensorType& a,
                           const TensorType& b,
                           std::optional<PartitionSpec> out) {
  Result<Equation> parsed = parse_equation(equation);
  if (!parsed) {
    return fail(parsed.error());
  }
  const std::array<TensorType, 2> operands = {a, b};
  return EinsumPlanner(mesh, equation, std::move(*parsed), operands, out).plan();
}

}  // namespace brigade::sharding
