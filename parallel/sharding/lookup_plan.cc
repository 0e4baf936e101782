// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/lookup_plan.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/one_hot_plan.h"
#include "parallel/sharding/shape_rules.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

Result<void> check_operands(std::string_view op,
                            const mesh::Mesh& mesh,
                            const TensorType& table,
                            const TensorType& indices,
                            int64_t dim) {
  if (Result<void> legal = check_dim(op, mesh, table, dim); !legal) {
    return legal;
  }
  if (Result<void> legal = check_legal(op, mesh, indices); !legal) {
    return legal;
  }
  if (table.global.size() + indices.global.size() > kLetters.size()) {
    return fail(ErrorCode::kType,
                concat(op,
                       ": expected at most ",
                       kLetters.size(),
                       " dims together, found ",
                       table.to_string(mesh),
                       " and ",
                       indices.to_string(mesh)));
  }
  return {};
}

/// Without `out=` the result must follow from the operands alone. `own_dims` of the indices are
/// those that the table does not have.
Result<void> check_unasked(std::string_view op,
                           const mesh::Mesh& mesh,
                           const TensorType& table,
                           const TensorType& indices,
                           size_t dim,
                           const std::vector<size_t>& own_dims) {
  const AxisNames& split = table.spec.dim(dim);
  if (!split.empty()) {
    return fail_type(
        rule::kContraction,
        concat(op,
               ": dim ",
               dim,
               " of ",
               table.to_string(mesh),
               ", in which ",
               indices.to_string(mesh),
               " look up, is split over ",
               join(split),
               ", so each rank has one term of a sum: say with out= whether the result "
               "stays unreduced, is all-reduced or scattered to a dim; or reshard the "
               "table"));
  }
  for (const size_t own : own_dims) {
    if (!indices.spec.dim(own).empty()) {
      return fail_type(rule::kContraction,
                       concat(op,
                              ": indices ",
                              indices.to_string(mesh),
                              " are split over ",
                              join(indices.spec.dim(own)),
                              ", ",
                              table.to_string(mesh),
                              " is not: say with out= that the result is too, or reshard them"));
    }
  }
  return {};
}

/// The table with those axes of dim `dim` gathered that split the indices too.
PartitionSpec without_shared_axes(const TensorType& table, const TensorType& indices, size_t dim) {
  AxisNames kept = table.spec.dim(dim);
  const auto shared = std::find_if(kept.begin(), kept.end(), [&](const std::string& axis) {
    return indices.spec.state(axis) == AxisState::kSharded;
  });
  AxisNames reduced = table.spec.reduced();
  reduced.insert(reduced.end(), shared, kept.end());
  kept.erase(shared, kept.end());
  return table.spec.with_dim(dim, std::move(kept)).with_reduced(std::move(reduced));
}

/// Letters: the table's dims come first in the alphabet, the indices' own behind them.
OneHotProduct product_of(std::string op,
                         const TensorType& table,
                         const TensorType& indices,
                         size_t dim) {
  OneHotProduct product;
  product.op = std::move(op);
  product.indices = indices;
  product.indices_spec = indices.spec;
  product.tensor = table;
  product.tensor_spec = without_shared_axes(table, indices, dim);
  product.classes = table.global[dim];
  product.class_axes = product.tensor_spec.dim(dim);
  product.tensor_letters = std::string(kLetters.substr(0, table.global.size()));
  return product;
}

}  // namespace

PartitionSpec taken_spec(const TensorType& table, const TensorType& indices, size_t dim) {
  std::vector<AxisNames> dims;
  for (size_t at = 0; at < table.global.size(); ++at) {
    if (at != dim) {
      dims.push_back(table.spec.dim(at));
      continue;
    }
    for (size_t own = 0; own < indices.global.size(); ++own) {
      dims.push_back(indices.spec.dim(own));
    }
  }
  return PartitionSpec(std::move(dims))
      .with_unreduced(table.spec.dim(dim))
      .with_reduced(reduced_beside(table.spec, indices.spec));
}

Result<OpPlan> plan_take(const mesh::Mesh& mesh,
                         const TensorType& table,
                         const TensorType& indices,
                         int64_t dim,
                         const std::optional<PartitionSpec>& out) {
  const std::string op = concat("take along dim ", dim);
  if (Result<void> legal = check_operands(op, mesh, table, indices, dim); !legal) {
    return fail(legal.error());
  }
  const auto at = static_cast<size_t>(dim);
  std::vector<size_t> own_dims;
  for (size_t own = 0; own < indices.global.size(); ++own) {
    own_dims.push_back(own);
  }
  if (!out) {
    Result<void> clear = check_unasked(op, mesh, table, indices, at, own_dims);
    if (!clear) {
      return fail(clear.error());
    }
  }
  OneHotProduct product = product_of(op, table, indices, at);
  const std::string own(kLetters.substr(table.global.size(), indices.global.size()));
  product.indices_letters = concat(own, product.tensor_letters[at]);
  product.result_letters = product.tensor_letters;
  product.result_letters.replace(at, 1, own);
  return plan_one_hot(mesh, product, out);
}

Result<OpPlan> plan_take_along(const mesh::Mesh& mesh,
                               const TensorType& table,
                               const TensorType& indices,
                               int64_t dim,
                               const std::optional<PartitionSpec>& out) {
  const std::string op = concat("take_along dim ", dim);
  if (Result<void> legal = check_operands(op, mesh, table, indices, dim); !legal) {
    return fail(legal.error());
  }
  const auto at = static_cast<size_t>(dim);
  Shape fitting = table.global;
  if (indices.global.size() == fitting.size()) {
    fitting[at] = indices.global[at];
  }
  if (indices.global != fitting) {
    return fail(ErrorCode::kType,
                concat(op,
                       ": expected indices of the table's sizes but for dim ",
                       dim,
                       ", found ",
                       indices.to_string(mesh),
                       " in ",
                       table.to_string(mesh)));
  }
  if (!out) {
    if (Result<void> clear = check_unasked(op, mesh, table, indices, at, {at}); !clear) {
      return fail(clear.error());
    }
  }
  OneHotProduct product = product_of(op, table, indices, at);
  product.result_letters = product.tensor_letters;
  product.result_letters[at] = kLetters[table.global.size()];
  product.indices_letters = concat(product.result_letters, product.tensor_letters[at]);
  return plan_one_hot(mesh, product, out);
}

}  // namespace brigade::sharding
