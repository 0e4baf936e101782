// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/from_callback.h"

#include <string>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/sharding/type_rule.h"
#include "parallel/tensor/boundary.h"
#include "parallel/tensor/buffers.h"

namespace brigade::tensor {
namespace {

std::string box_text(const sharding::Box& box) {
  std::vector<std::string> ranges;
  for (const sharding::Interval& range : box.dims) {
    ranges.push_back(concat(range.begin, ':', range.end));
  }
  return concat('[', join(ranges), ']');
}

}  // namespace

ShardedTensor from_callback(Program& program,
                            const sharding::TensorType& type,
                            const std::function<at::Tensor(const sharding::Box&)>& piece) {
  const std::string where = concat("from_callback ", type.to_string(program.mesh()));
  if (Result<void> legal = type.spec.check(program.mesh(), type.global.size()); !legal) {
    throw Exception(sharding::fail_within(concat(where, ": "), legal.error()).value());
  }
  if (!type.spec.unreduced().empty()) {
    refuse_at_boundary(
        sharding::rule::kUnreduced,
        concat(where,
               ": a piece is a box of values, not a term of a sum; make it without {U:",
               join(type.spec.unreduced(), ","),
               "} and reshard"));
  }
  const sharding::Box box =
      sharding::NamedSharding{program.mesh(), type.spec}.box(type.global, program.rank());
  at::Tensor local = piece(box);
  const bool right = local.defined() && dtype_of(local) == type.dtype &&
                     local.sizes() == at::IntArrayRef(box.shape());
  if (!right) {
    const std::string found =
        local.defined() ? concat(dtype_of(local), '[', join(local.sizes()), ']') : "no tensor";
    refuse_at_boundary(sharding::rule::kBufferShape,
                       concat(where,
                              ": rank ",
                              program.rank(),
                              " holds ",
                              box_text(box),
                              ", so the callback was expected to return ",
                              type.dtype,
                              '[',
                              join(box.shape()),
                              "]; it returned ",
                              found));
  }
  return ShardedTensor(program, type, std::move(local));
}

}  // namespace brigade::tensor
