// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/kept_products.h"

#include <utility>

#include "parallel/base/check.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {

at::Tensor KeptProducts::take() {
  BRIGADE_CHECK(next_ < results_.size(), "more products than were kept:", results_.size());
  return std::exchange(results_[next_++], at::Tensor());
}

ProductScope::ProductScope(Program& program, KeptProducts& products, Mode mode)
    : program_(program), products_(products), mode_(mode) {
  BRIGADE_CHECK(program_.products() == nullptr);
  program_.set_products(this);
}

ProductScope::~ProductScope() {
  program_.set_products(nullptr);
}

}  // namespace brigade::tensor
