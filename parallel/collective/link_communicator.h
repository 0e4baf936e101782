// SPDX-License-Identifier: Apache-2.0
/// LinkCommunicator: the Communicator of our own engine - plans of the algorithms, carried out over
/// links.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parallel/collective/communicator.h"
#include "parallel/collective/engine.h"
#include "parallel/collective/plan.h"

namespace brigade::collective {

class LinkCommunicator final : public Communicator {
 public:
  LinkCommunicator(std::shared_ptr<Engine> engine, Group group, std::chrono::milliseconds timeout);

  int rank() const override { return group_->rank; }
  int size() const override { return group_->size(); }
  const std::string& name() const override { return group_->name; }
  const std::vector<int64_t>& members() const override { return group_->members; }
  void set_timeout(std::chrono::milliseconds timeout) override { timeout_ = timeout; }

  Work all_reduce(Spans buffer, DType dtype, ReduceOp op, Keep keep) override;
  Work reduce_scatter(
      std::vector<ConstSpans> terms, Spans result, DType dtype, ReduceOp op, Keep keep) override;
  Work all_gather(ConstSpans mine, std::vector<Spans> parts, Keep keep) override;
  Work broadcast(Spans buffer, int root, Keep keep) override;
  Work all_to_all(std::vector<ConstSpans> to, std::vector<Spans> from, Keep keep) override;
  Work send(ConstSpans buffer, int peer, Tag tag, Keep keep) override;
  Work receive(Spans buffer, int peer, Tag tag, Keep keep) override;
  Work barrier() override;

  int64_t bytes_sent() const override { return bytes_sent_; }

 private:
  Work post(Plan plan, uint64_t sequence, Keep keep);
  Work post_collective(Plan plan, Keep keep);

  const std::shared_ptr<Engine> engine_;
  const std::shared_ptr<const Group> group_;
  std::chrono::milliseconds timeout_;
  uint64_t next_sequence_ = 0;
  int64_t bytes_sent_ = 0;
};

}  // namespace brigade::collective
