// SPDX-License-Identifier: Apache-2.0
/// ResidualStream: how the activations between the blocks of a decoder lie on the mesh of a stage,
/// and how blocks take from them and add to them.
///
///   ResidualStream stream(program, place);
///   ShardedTensor entered = stream.enter(norm(x), "attention: one gradient sum for q, k and v");
///   x = add(x, einsum("bsh,dh->bsd", heads, weight, stream.spec()));
///
/// Batch over the data axes. Over tp the stream is whole, or, with sequence parallelism, split
/// along the sequence. Then entering a block gathers it and leaving it scatters the sum, where it
/// would be marked and all-reduced: the same bytes, and norms and dropout do each row on one rank.
///
/// Legend: b batch of one data rank, s sequence, d width.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parallel/executor/stage.h"
#include "parallel/mesh/mesh.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::decoder {

/// Which part of a model a rank computes, and how the activations lie.
struct StagePlace {
  int64_t stage = 0;
  int64_t stages = 1;
  int64_t sequence = 0;        ///< tokens of one sequence
  mesh::AxisNames batch_axes;  ///< that share a batch, major first
  bool sequence_parallel = false;
  DType dtype = DType::kFloat32;  ///< of activations, as of weights
  uint64_t seed = 0;              ///< of what a stage draws
};

class ResidualStream {
 public:
  /// Borrows `program`.
  ResidualStream(tensor::Program& program, const StagePlace& place);

  const sharding::PartitionSpec& spec() const { return stream_; }
  /// [b x data ranks, s, d] of the dtype of activations.
  sharding::TensorType type(int64_t batch, int64_t sequence, int64_t dim) const;

  /// This data rank's rows of ids, [b, s], as a piece of the batch over all data ranks; whole on
  /// every rank of tp.
  tensor::ShardedTensor ids(const at::Tensor& rows) const;

  /// Before products whose weights are split over tp: x whole, with gradients that are unfinished
  /// sums over tp, joined once by this cast's backward and not once per product.
  /// Collective: forward with sequence parallelism, and backward.
  tensor::ShardedTensor enter(const tensor::ShardedTensor& x, std::string_view reason) const;

  /// x, of type(), with a share `rate` of its elements dropped (ops/dropout.h). Which ones, is a
  /// function of seed, name, step and the element's place in the global batch: the same on every
  /// mesh, in every microbatch, and when a forward is run again. None in an evaluation, without a
  /// `place`.
  tensor::ShardedTensor drop(const tensor::ShardedTensor& x,
                             double rate,
                             const std::optional<executor::TrainingPlace>& place,
                             const std::string& name) const;

 private:
  tensor::Program& program_;
  mesh::AxisNames batch_axes_;
  sharding::PartitionSpec rows_;
  sharding::PartitionSpec stream_;
  DType dtype_;
  uint64_t seed_;
};

}  // namespace brigade::decoder
