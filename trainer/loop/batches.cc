// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/batches.h"

#include <algorithm>
#include <span>
#include <vector>

#include <ATen/ATen.h>

namespace brigade::loop {
namespace {

at::Tensor rows(const std::vector<int64_t>& ids, int64_t count) {
  const int64_t columns = static_cast<int64_t>(ids.size()) / count;
  at::Tensor tensor = at::empty({count, columns}, at::kLong);
  std::copy(ids.begin(), ids.end(), tensor.mutable_data_ptr<int64_t>());
  return tensor;
}

std::span<int64_t> row(at::Tensor& tensor, int64_t index) {
  const int64_t columns = tensor.size(1);
  return {tensor.mutable_data_ptr<int64_t>() + index * columns, static_cast<size_t>(columns)};
}

Result<executor::Microbatch> read_rows(const data::TokenSource& source,
                                       int64_t first,
                                       int64_t count) {
  executor::Microbatch microbatch{at::empty({count, source.seq_len()}, at::kLong),
                                  at::empty({count, source.seq_len()}, at::kLong),
                                  std::nullopt};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t sample = first + i;
    const bool there = sample < source.sample_count();
    const Result<void> read =
        source.read(0, there ? sample : 0, row(microbatch.tokens, i), row(microbatch.targets, i));
    if (!read) {
      return fail(read.error());
    }
    if (!there) {
      std::ranges::fill(row(microbatch.targets, i), data::kNotTrained);
    }
  }
  return microbatch;
}

}  // namespace

executor::Batch to_tensors(const data::StepBatch& batch, int64_t microbatch_size, int64_t step) {
  executor::Batch result{{}, batch.trained_tokens};
  int64_t first_row = batch.first_microbatch * microbatch_size;
  for (const data::Microbatch& microbatch : batch.microbatches) {
    result.microbatches.push_back({rows(microbatch.tokens, microbatch_size),
                                   rows(microbatch.targets, microbatch_size),
                                   executor::TrainingPlace{step, first_row}});
    first_row += microbatch_size;
  }
  return result;
}

Result<executor::Batch> validation_batch(const data::TokenSource& source,
                                         int64_t index,
                                         const data::BatchShape& shape) {
  const int64_t begin = index * shape.global_batch;
  const int64_t end = std::min(begin + shape.global_batch, source.sample_count());
  const int64_t per_rank = shape.global_batch / shape.data_ranks;
  executor::Batch batch{{}, source.trained_tokens(begin, end)};
  for (int64_t at = 0; at < per_rank; at += shape.microbatch) {
    Result<executor::Microbatch> microbatch =
        read_rows(source, begin + shape.data_rank * per_rank + at, shape.microbatch);
    if (!microbatch) {
      return fail(microbatch.error());
    }
    batch.microbatches.push_back(std::move(*microbatch));
  }
  return batch;
}

}  // namespace brigade::loop
