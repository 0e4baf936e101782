// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/program.h"

#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/named_sharding.h"

namespace brigade::tensor {

Program::Program(mesh::Mesh mesh, int64_t rank, GroupMaker make_group, MatmulTable matmul)
    : mesh_(std::move(mesh)), rank_(rank), make_group_(std::move(make_group)), matmul_(matmul) {}

Program::~Program() = default;

collective::Communicator& Program::group(const mesh::AxisNames& axes) {
  const auto known = groups_.find(axes);
  if (known != groups_.end()) {
    return *known->second;
  }
  std::unique_ptr<collective::Communicator> made =
      make_group_(mesh_.group(rank_, axes), join(axes, "·"));
  if (timeout_) {
    made->set_timeout(*timeout_);
  }
  return *groups_.emplace(axes, std::move(made)).first->second;
}

void Program::set_timeout(std::chrono::milliseconds timeout) {
  timeout_ = timeout;
  for (const auto& [axes, group] : groups_) {
    group->set_timeout(timeout);
  }
}

const TypeRecord& Program::record(const sharding::TensorType& type) {
  const auto known = records_.find(type);
  if (known != records_.end()) {
    return known->second;
  }
  const sharding::NamedSharding sharding{mesh_, type.spec};
  return records_.emplace(type, TypeRecord{type, sharding.local_shape(type.global, rank_)})
      .first->second;
}

const Planned& Program::keep(const PlanKey& key, const sharding::OpPlan& plan) {
  auto planned = std::make_unique<Planned>();
  planned->op = key.op();
  prepare(*this, plan, key.operands(), *planned);
  return *plans_.emplace(key, std::move(planned)).first->second;
}

}  // namespace brigade::tensor
