// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/batcher.h"

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::data {

Result<Batcher> Batcher::create(const TokenSource& source, BatchShape shape) {
  BRIGADE_CHECK(shape.data_rank >= 0 && shape.data_rank < shape.data_ranks,
                shape.data_rank,
                shape.data_ranks);
  if (shape.global_batch < 1 || shape.microbatch < 1 ||
      shape.global_batch % (shape.data_ranks * shape.microbatch) != 0) {
    return fail(ErrorCode::kUsage,
                concat("global batch must be a multiple of data ranks x microbatch size; found ",
                       shape.global_batch,
                       " samples for ",
                       shape.data_ranks,
                       " x ",
                       shape.microbatch));
  }
  return Batcher(source, shape);
}

int64_t Batcher::microbatch_count() const {
  return shape_.global_batch / (shape_.data_ranks * shape_.microbatch);
}

Result<StepBatch> Batcher::read(int64_t samples_consumed) const {
  BRIGADE_CHECK(samples_consumed >= 0, samples_consumed);
  const int64_t end = samples_consumed + shape_.global_batch;
  StepBatch step;
  step.first_microbatch = shape_.data_rank * microbatch_count();
  step.trained_tokens = source_->trained_tokens(samples_consumed, end);
  if (step.trained_tokens == 0) {
    return fail(ErrorCode::kData,
                concat("no token of samples ",
                       samples_consumed,
                       " to ",
                       end - 1,
                       " is trained: the whole global batch is masked"));
  }
  for (int64_t j = 0; j < microbatch_count(); ++j) {
    auto microbatch =
        read_microbatch(samples_consumed + (step.first_microbatch + j) * shape_.microbatch);
    if (!microbatch) {
      return fail(std::move(microbatch.error()));
    }
    step.microbatches.push_back(std::move(*microbatch));
  }
  return step;
}

Result<Microbatch> Batcher::read_microbatch(int64_t first_position) const {
  const auto length = static_cast<size_t>(source_->seq_len());
  const auto rows = static_cast<size_t>(shape_.microbatch);
  Microbatch microbatch{std::vector<int64_t>(rows * length), std::vector<int64_t>(rows * length)};
  for (size_t row = 0; row < rows; ++row) {
    const int64_t position = first_position + static_cast<int64_t>(row);
    const auto done = source_->read(position / source_->sample_count(),
                                    position % source_->sample_count(),
                                    std::span(microbatch.tokens).subspan(row * length, length),
                                    std::span(microbatch.targets).subspan(row * length, length));
    if (!done) {
      return fail(done.error());
    }
  }
  return microbatch;
}

}  // namespace brigade::data
