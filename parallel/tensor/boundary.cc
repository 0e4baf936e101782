// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/boundary.h"

#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/type_rule.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {

using sharding::NamedSharding;
using sharding::PartitionSpec;

void refuse_at_boundary(std::string_view rule, std::string text) {
  throw Exception(sharding::fail_type(rule, std::move(text)).value());
}

std::vector<std::optional<PartitionSpec>> specs_of(Program& program,
                                                   const BoundaryShardings& shardings,
                                                   std::string_view where) {
  std::vector<std::optional<PartitionSpec>> specs;
  for (size_t index = 0; index < shardings.size(); ++index) {
    const BoundarySharding& sharding = shardings[index];
    if (sharding.mesh() && *sharding.mesh() != program.mesh()) {
      refuse_at_boundary(sharding::rule::kOtherMesh,
                         concat(where,
                                '[',
                                index,
                                "] was made for the mesh ",
                                sharding.mesh()->to_string(),
                                "; the program's mesh is ",
                                program.mesh().to_string()));
    }
    if (sharding.spec()) {
      const Result<NamedSharding> legal = NamedSharding::create(program.mesh(), *sharding.spec());
      if (!legal) {
        throw Exception(
            sharding::fail_within(concat(where, '[', index, "]: "), legal.error()).value());
      }
    }
    specs.push_back(sharding.spec());
  }
  return specs;
}

void expect_count(std::string_view where,
                  size_t values,
                  std::string_view values_name,
                  size_t shardings,
                  std::string_view shardings_name) {
  if (values != shardings) {
    refuse_at_boundary(sharding::rule::kBoundary,
                       concat(where,
                              ": ",
                              values,
                              ' ',
                              values_name,
                              ", but ",
                              shardings,
                              ' ',
                              shardings_name,
                              "; give one for each (std::nullopt: whatever it is)"));
  }
}

ShardedTensor as_sharded(Program& program, const Argument& argument, const std::string& where) {
  if (argument.plain() != nullptr && argument.plain()->defined()) {
    const at::Tensor& whole = *argument.plain();
    const sharding::TensorType type{dtype_of(whole), whole.sizes().vec(), PartitionSpec()};
    return ShardedTensor(program, type, whole);
  }
  if (argument.sharded() == nullptr || !argument.sharded()->defined()) {
    refuse_at_boundary(sharding::rule::kBoundary, concat(where, " is no tensor (undefined)"));
  }
  if (&argument.sharded()->program() != &program) {
    refuse_at_boundary(sharding::rule::kBoundary,
                       concat(where,
                              ", ",
                              argument.sharded()->type().to_string(program.mesh()),
                              ", belongs to another Program"));
  }
  return *argument.sharded();
}

}  // namespace brigade::tensor
