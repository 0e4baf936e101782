// SPDX-License-Identifier: Apache-2.0
/// Keeping the results of matrix products from one forward for a second one of the same ops: what
/// selective recomputation does (Korthikanti et al., 2023, section 5, turned round: the products
/// stay, all between them is computed again).
///
///   KeptProducts products;
///   {
///     const c10::NoGradGuard no_history;
///     const ProductScope scope(program, products, ProductScope::Mode::kKeep);
///     y = block(x);
///   }
///   const ProductScope scope(program, products, ProductScope::Mode::kReuse);
///   y = block(x);   // with history, and without a single product or reduction of one
///
/// Every einsum and matmul in the scope is kept with its output cast done, so that a reuse runs
/// no collective for it either. A reuse calls the same ops in the same order; CHECKed by count and
/// shape.
///
/// Memory:        the results, each once.
/// Thread safety: belongs to the program's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace brigade::tensor {

class Program;

class KeptProducts {
 public:
  void keep(const at::Tensor& result) { results_.push_back(result.detach()); }
  /// In the order of keep(); lets go of it.
  at::Tensor take();

 private:
  std::vector<at::Tensor> results_;
  size_t next_ = 0;
};

class ProductScope {
 public:
  enum class Mode : uint8_t { kKeep, kReuse };

  /// Borrows both; scopes do not nest.
  ProductScope(Program& program, KeptProducts& products, Mode mode);
  ~ProductScope();
  ProductScope(const ProductScope&) = delete;
  ProductScope& operator=(const ProductScope&) = delete;

  Mode mode() const { return mode_; }
  KeptProducts& products() { return products_; }

 private:
  Program& program_;
  KeptProducts& products_;
  Mode mode_;
};

}  // namespace brigade::tensor
