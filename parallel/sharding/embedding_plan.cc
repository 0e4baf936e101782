// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/embedding_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "parallel/base/text.h"

namespace brigade::sharding {
namespace {

constexpr size_t kMostDims = 20;  // of tokens: letters a to t

tl::unexpected<Error> error(std::string_view text) {
  return fail(ErrorCode::kType, concat("embedding: ", text));
}

AxisNames result_reduced(const TensorType& table, const TensorType& tokens) {
  AxisNames reduced = table.spec.reduced();
  std::erase_if(reduced, [&](const std::string& axis) {
    return tokens.spec.state(axis) == AxisState::kSharded;
  });
  return reduced;
}

/// Tokens as one-hot rows, split as the vocabulary. Over axes that they do not split they are
/// whatever copies the table is.
TensorType one_hot(const TensorType& table, const TensorType& tokens) {
  TensorType type{table.dtype, tokens.global, tokens.spec};
  type.global.push_back(table.global[0]);
  type.spec = type.spec.with_dim(tokens.global.size(), table.spec.dim(0));
  type.spec = type.spec.with_reduced(result_reduced(table, tokens));
  return type;
}

/// The result as it comes, but for the sum over the vocabulary's parts.
PartitionSpec unresolved(const TensorType& table, const TensorType& tokens) {
  return tokens.spec.with_reduced(result_reduced(table, tokens))
      .with_dim(tokens.global.size(), table.spec.dim(1))
      .with_unreduced(table.spec.dim(0));
}

}  // namespace

Result<OpPlan> plan_embedding(const mesh::Mesh& mesh,
                              const TensorType& table,
                              const TensorType& tokens,
                              std::optional<PartitionSpec> out) {
  if (table.global.size() != 2 || tokens.global.size() > kMostDims) {
    return error(concat("expected a table of 2 dims and tokens of at most ",
                        kMostDims,
                        ", found ",
                        table.to_string(),
                        " and ",
                        tokens.to_string()));
  }
  if (tokens.dtype != DType::kInt64 && tokens.dtype != DType::kInt32) {
    return error(concat("tokens must be i64 or i32, found ", tokens.to_string()));
  }
  std::string letters;
  for (size_t dim = 0; dim < tokens.global.size(); ++dim) {
    letters.push_back(static_cast<char>('a' + dim));
  }
  const PartitionSpec natural = unresolved(table, tokens);
  if (Result<void> legal = natural.check(mesh, tokens.global.size() + 1); !out && !legal) {
    return error(concat("the result of ",
                        tokens.to_string(),
                        " in ",
                        table.to_string(),
                        " would be illegally sharded: ",
                        legal.error().text,
                        "; say with out= where it stays, or reshard"));
  }
  Result<OpPlan> plan = plan_einsum(mesh,
                                    concat(letters, "y,yz->", letters, 'z'),
                                    one_hot(table, tokens),
                                    table,
                                    out.value_or(natural));
  if (!plan) {
    return error(concat("as the product of one-hot tokens and the table: ", plan.error().text));
  }
  const bool moves =
      std::any_of(plan->inputs[0].begin(), plan->inputs[0].end(), [](const CastStep& step) {
        return step.kind != CastKind::kMarkReduced;
      });
  if (moves) {
    return error(concat("out= ",
                        out.value_or(natural).to_string(),
                        " would move tokens ",
                        tokens.to_string(mesh),
                        "; reshard them first"));
  }
  plan->inputs[0].clear();
  plan->reason = concat("embedding: table ", table.to_string(mesh));
  return plan;
}

}  // namespace brigade::sharding
