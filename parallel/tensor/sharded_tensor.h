// SPDX-License-Identifier: Apache-2.0
/// ShardedTensor: this rank's piece of a global tensor, with the type that says which piece it is.
///
/// Operations are free functions (ops/*.h) that plan on types, cast what the plan asks for, compute
/// locally under libtorch's autograd, and give the result its type. Gradients have the dual type:
/// sharded and replicated stay, unreduced and reduced change places.
///
///   // column parallel: no communication
///   ShardedTensor y = einsum("bsd,hd->bsh", x, w);
///   // row parallel: one all-reduce, because the type says so
///   ShardedTensor z = einsum("bsh,dh->bsd", y, v, x.type().spec);
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

#include "parallel/sharding/tensor_type.h"

namespace brigade::tensor {

class Program;
struct TypeRecord;

class ShardedTensor {
 public:
  /// No tensor.
  ShardedTensor() = default;

  /// `local` has the local shape and dtype of `type` on the program's rank; checked. Borrows the
  /// program.
  ShardedTensor(Program& program, const sharding::TensorType& type, at::Tensor local);
  /// The same with the program's record of the type.
  ShardedTensor(Program& program, const TypeRecord* record, at::Tensor local);

  bool defined() const { return program_ != nullptr; }
  const at::Tensor& local() const { return local_; }
  /// Of a defined tensor.
  const sharding::TensorType& type() const;
  const TypeRecord& record() const { return *record_; }
  Program& program() const { return *program_; }

  /// The local piece's gradient, after a backward, as a tensor of the dual type.
  ShardedTensor gradient() const;

 private:
  Program* program_ = nullptr;
  const TypeRecord* record_ = nullptr;
  at::Tensor local_;
};

/// The type of a gradient: U and Rd change places. Throws kType for terms of a maximum or minimum,
/// which have none.
sharding::TensorType dual(const sharding::TensorType& type);
bool has_dual(const sharding::TensorType& type);

/// Local shape of `type` on the program's rank.
sharding::Shape local_shape(const Program& program, const sharding::TensorType& type);

/// Takes this rank's piece of a tensor that is whole and equal on all ranks. A copy; no history.
ShardedTensor distribute(Program& program,
                         const at::Tensor& whole,
                         const sharding::PartitionSpec& spec);

/// The whole tensor on every rank. Collective over the mesh; no history; for tests and reports.
at::Tensor collect(const ShardedTensor& tensor);

/// A drawing of which ranks hold which box (sharding/picture.h). `colour` is for terminals: the
/// caller asks isatty(). Local.
std::string visualize(const ShardedTensor& tensor, bool colour = false);

}  // namespace brigade::tensor
