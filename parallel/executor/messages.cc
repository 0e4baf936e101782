// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/messages.h"

#include <memory>
#include <utility>

#include <ATen/ATen.h>

#include "parallel/base/check.h"
#include "parallel/base/result.h"
#include "parallel/tensor/buffers.h"

namespace brigade::executor {
namespace {

collective::Keep keep(const at::Tensor& tensor) {
  return std::make_shared<const at::Tensor>(tensor);
}

}  // namespace

void Messages::post_receive(at::Tensor buffer, int64_t peer, collective::Tag tag) {
  collective::Work work =
      pipeline().receive({tensor::bytes_of(buffer)}, static_cast<int>(peer), tag, keep(buffer));
  receives_.push_back({std::move(buffer), std::move(work)});
}

at::Tensor Messages::take() {
  BRIGADE_CHECK(!receives_.empty());
  value_or_throw(receives_.front().work.wait());
  at::Tensor tensor = std::move(receives_.front().tensor);
  receives_.pop_front();
  return tensor;
}

void Messages::send(const at::Tensor& tensor, int64_t peer, collective::Tag tag) {
  at::Tensor sent = tensor.detach().contiguous();
  collective::Work work =
      pipeline().send({tensor::bytes_of(sent)}, static_cast<int>(peer), tag, keep(sent));
  sends_.push_back({std::move(sent), std::move(work)});
}

void Messages::poll() {
  while (!sends_.empty() && sends_.front().work.done()) {
    value_or_throw(sends_.front().work.wait());
    sends_.pop_front();
  }
}

void Messages::finish_sends() {
  while (!sends_.empty()) {
    value_or_throw(sends_.front().work.wait());
    sends_.pop_front();
  }
}

collective::Communicator& Messages::pipeline() {
  BRIGADE_CHECK(pipeline_ != nullptr, "a message without a pipeline group");
  return *pipeline_;
}

}  // namespace brigade::executor
