// SPDX-License-Identifier: Apache-2.0
#include "parallel/collective/link_communicator.h"

#include <utility>

#include "parallel/base/check.h"
#include "parallel/transport/spans.h"

namespace brigade::collective {
namespace {

/// What this member will have sent when the plan is done.
int64_t payload_of(const Plan& plan) {
  int64_t bytes = 0;
  for (const Outgoing& outgoing : plan.outgoing) {
    bytes += transport::length_of(outgoing.bytes);
  }
  if (plan.reduction && plan.reduction->forward) {
    bytes +=
        transport::length_of(plan.reduction->result) * static_cast<int64_t>(plan.outgoing.size());
  }
  return bytes;
}

}  // namespace

LinkCommunicator::LinkCommunicator(std::shared_ptr<Engine> engine,
                                   Group group,
                                   std::chrono::milliseconds timeout)
    : engine_(std::move(engine)),
      group_(std::make_shared<const Group>(std::move(group))),
      timeout_(timeout) {}

Work LinkCommunicator::post(Plan plan, uint64_t sequence, Keep keep) {
  bytes_sent_ += payload_of(plan);
  return engine_->post(std::make_unique<Operation>(
                           group_, sequence, std::move(plan), std::move(keep), engine_->scratch()),
                       timeout_);
}

Work LinkCommunicator::post_collective(Plan plan, Keep keep) {
  return post(std::move(plan), next_sequence_++, std::move(keep));
}

Work LinkCommunicator::all_reduce(Spans buffer, DType dtype, ReduceOp op, Keep keep) {
  return post_collective(plan_all_reduce(*group_, buffer, dtype, op), std::move(keep));
}

Work LinkCommunicator::reduce_scatter(
    std::vector<ConstSpans> terms, Spans result, DType dtype, ReduceOp op, Keep keep) {
  return post_collective(
      plan_reduce_scatter(*group_, std::move(terms), std::move(result), dtype, op),
      std::move(keep));
}

Work LinkCommunicator::all_gather(ConstSpans mine, std::vector<Spans> parts, Keep keep) {
  return post_collective(plan_all_gather(*group_, mine, std::move(parts)), std::move(keep));
}

Work LinkCommunicator::broadcast(Spans buffer, int root, Keep keep) {
  BRIGADE_CHECK(root >= 0 && root < size(), root, size());
  return post_collective(plan_broadcast(*group_, buffer, root), std::move(keep));
}

Work LinkCommunicator::all_to_all(std::vector<ConstSpans> to, std::vector<Spans> from, Keep keep) {
  return post_collective(plan_all_to_all(*group_, std::move(to), std::move(from)), std::move(keep));
}

Work LinkCommunicator::send(ConstSpans buffer, int peer, Tag tag, Keep keep) {
  BRIGADE_CHECK(peer >= 0 && peer < size() && peer != rank(), peer, rank(), size());
  return post(plan_send(*group_, std::move(buffer), peer), tag, std::move(keep));
}

Work LinkCommunicator::receive(Spans buffer, int peer, Tag tag, Keep keep) {
  BRIGADE_CHECK(peer >= 0 && peer < size() && peer != rank(), peer, rank(), size());
  return post(plan_receive(*group_, std::move(buffer), peer), tag, std::move(keep));
}

Work LinkCommunicator::barrier() {
  return post_collective(plan_barrier(*group_), {});
}

}  // namespace brigade::collective
