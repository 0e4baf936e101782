// SPDX-License-Identifier: Apache-2.0
/// Messages: the tensors on their way between this rank's stage and its neighbours. Internal to the
/// module.
///
/// A send keeps its tensor until the transport has read it and never blocks; a receive is posted
/// into a tensor of its own and taken later. Failures are thrown as Exception.
#pragma once

#include <cstdint>
#include <deque>

#include <ATen/core/Tensor.h>

#include "parallel/collective/communicator.h"

namespace brigade::executor {

class Messages {
 public:
  explicit Messages(collective::Communicator* pipeline) : pipeline_(pipeline) {}

  /// Makes `buffer`, contiguous, the next one that take() returns.
  void post_receive(at::Tensor buffer, int64_t peer, collective::Tag tag);
  /// The tensor of the earliest receive not yet taken, once it has arrived.
  at::Tensor take();
  size_t posted_receives() const { return receives_.size(); }

  void send(const at::Tensor& tensor, int64_t peer, collective::Tag tag);

  /// Lets go of sends that are done.
  void poll();
  /// Waits for all sends.
  void finish_sends();

 private:
  struct InFlight {
    at::Tensor tensor;
    collective::Work work;
  };

  collective::Communicator& pipeline();

  collective::Communicator* pipeline_;
  std::deque<InFlight> receives_;
  std::deque<InFlight> sends_;
};

}  // namespace brigade::executor
