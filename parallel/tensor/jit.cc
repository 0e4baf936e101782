// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/jit.h"

#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/type_rule.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/same_ops.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using sharding::TensorType;

/// Texts are made where something is wrong, and nowhere else.
void expect_spec(Program& program,
                 const TensorType& found,
                 const std::optional<PartitionSpec>& spec,
                 std::string_view value,
                 std::string_view list,
                 size_t index,
                 std::string_view way_out) {
  if (spec && found.spec != *spec) {
    const TensorType wanted{found.dtype, found.global, *spec};
    refuse_at_boundary(sharding::rule::kBoundary,
                       concat("jit: ",
                              value,
                              ' ',
                              index,
                              " is ",
                              found.to_string(program.mesh()),
                              ", but ",
                              list,
                              '[',
                              index,
                              "] asks for ",
                              wanted.to_string(program.mesh()),
                              "; ",
                              way_out));
  }
}

}  // namespace

JitBoundary::JitBoundary(Program& program,
                         const BoundaryShardings& in,
                         const BoundaryShardings& out)
    : program_(program),
      in_(specs_of(program, in, "jit: in_shardings")),
      out_(specs_of(program, out, "jit: out_shardings")) {
  for (size_t index = 0; index < in_.size(); ++index) {
    argument_names_.push_back(concat("jit: argument ", index));
  }
}

std::vector<ShardedTensor> JitBoundary::enter(const Arguments& arguments) const {
  expect_count("jit", arguments.size(), "arguments", in_.size(), "in_shardings");
  std::vector<ShardedTensor> inputs;
  inputs.reserve(arguments.size());
  for (size_t index = 0; index < arguments.size(); ++index) {
    const std::string& name = argument_names_[index];
    ShardedTensor input = as_sharded(program_, arguments[index], name);
    if (arguments[index].plain() != nullptr) {
      inputs.push_back(in_[index] ? reshard(input, *in_[index], name) : std::move(input));
      continue;
    }
    expect_spec(program_,
                input.type(),
                in_[index],
                "argument",
                "in_shardings",
                index,
                "reshard it before the call");
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void JitBoundary::leave(const Trace::Call& call, const std::vector<ShardedTensor>& results) const {
  // First: ranks that went different ways may have results of different types.
  expect_same_ops(program_, call.ops(), "jit");
  expect_count("jit", results.size(), "results", out_.size(), "out_shardings");
  for (size_t index = 0; index < results.size(); ++index) {
    expect_spec(program_,
                results[index].type(),
                out_[index],
                "output",
                "out_shardings",
                index,
                "reshard it at the end of the function");
  }
}

}  // namespace brigade::tensor
