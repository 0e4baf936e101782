// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/generators.h"

#include <algorithm>

#include "parallel/base/check.h"

namespace brigade::schedule {
namespace {

Action compute(ActionKind kind, int64_t stage, int64_t microbatch) {
  Action action;
  action.kind = kind;
  action.stage = StageId(stage);
  action.microbatch = MicrobatchId(microbatch);
  return action;
}

std::vector<Action> gpipe_row(int64_t microbatches, int64_t rank) {
  std::vector<Action> row;
  for (int64_t i = 0; i < microbatches; ++i) {
    row.push_back(compute(ActionKind::kForward, rank, i));
  }
  for (int64_t i = microbatches - 1; i >= 0; --i) {
    row.push_back(compute(ActionKind::kBackward, rank, i));
  }
  return row;
}

std::vector<Action> one_forward_one_backward_row(int64_t ranks,
                                                 int64_t microbatches,
                                                 int64_t rank) {
  // A rank runs ahead by as many forwards as there are ranks behind it: its first gradient cannot
  // come back sooner.
  const int64_t warm_up = std::min(ranks - rank - 1, microbatches);
  std::vector<Action> row;
  for (int64_t i = 0; i < warm_up; ++i) {
    row.push_back(compute(ActionKind::kForward, rank, i));
  }
  for (int64_t i = 0; i < microbatches; ++i) {
    if (warm_up + i < microbatches) {
      row.push_back(compute(ActionKind::kForward, rank, warm_up + i));
    }
    row.push_back(compute(ActionKind::kBackward, rank, i));
  }
  return row;
}

}  // namespace

std::vector<Action> compute_row(Kind kind, int64_t ranks, int64_t microbatches, int64_t rank) {
  BRIGADE_CHECK(rank >= 0 && rank < ranks && microbatches >= 1, rank, ranks, microbatches);
  switch (kind) {
    case Kind::kGPipe: return gpipe_row(microbatches, rank);
    case Kind::kOneForwardOneBackward:
      return one_forward_one_backward_row(ranks, microbatches, rank);
  }
  BRIGADE_CHECK(false, static_cast<int>(kind));
}

}  // namespace brigade::schedule
