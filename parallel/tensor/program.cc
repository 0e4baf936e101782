// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/program.h"

#include <utility>

#include "parallel/base/text.h"

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

const sharding::OpPlan& Program::plan(const std::string& key,
                                      const std::function<Result<sharding::OpPlan>()>& make) {
  const auto known = plans_.find(key);
  if (known != plans_.end()) {
    return known->second;
  }
  return plans_.emplace(key, value_or_throw(make())).first->second;
}

}  // namespace brigade::tensor
