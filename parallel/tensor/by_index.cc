// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/by_index.h"

#include <utility>

#include "parallel/base/check.h"

namespace brigade::tensor {

using sharding::Interval;

Runs::Runs(sharding::Shape global, sharding::Box box)
    : global_(std::move(global)), box_(std::move(box)) {
  BRIGADE_CHECK(global_.size() == box_.dims.size(), global_.size(), box_.dims.size());
  while (global_.size() > 1 && box_.dims.back() == Interval{0, global_.back()}) {
    const int64_t inner = global_.back();
    global_.pop_back();
    box_.dims.pop_back();
    Interval& outer = box_.dims.back();
    outer = {outer.begin * inner, outer.end * inner};
    global_.back() *= inner;
  }
  width_ = box_.dims.empty() ? 1 : box_.dims.back().size();
  count_ = width_ == 0 ? 0 : box_.element_count() / width_;
}

int64_t Runs::start(int64_t run) const {
  int64_t index = box_.dims.empty() ? 0 : box_.dims.back().begin;
  int64_t stride = global_.empty() ? 1 : global_.back();
  for (size_t dim = global_.size() - (global_.empty() ? 0 : 1); dim-- > 0;) {
    const Interval& interval = box_.dims[dim];
    index += (interval.begin + run % interval.size()) * stride;
    run /= interval.size();
    stride *= global_[dim];
  }
  return index;
}

}  // namespace brigade::tensor
