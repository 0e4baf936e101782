// SPDX-License-Identifier: Apache-2.0
/// What a run remembers of its model: weights and optimizer states as boxes of named tensors, on
/// their way to a checkpoint and back.
///
///   saver.save(head, boxes_to_write(parameters, optimizer, program, false));
///   value_or_throw(load_weights(parameters, source));
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/tensor/program.h"
#include "parallel/zero/parameter_set.h"
#include "trainer/checkpoint/shard_writer.h"
#include "trainer/checkpoint/tensor_source.h"
#include "trainer/config/resolve.h"
#include "trainer/config/run_config.h"
#include "trainer/optim/optimizer.h"

namespace brigade::loop {

/// "optimizer.state.lm_head.weight.exp_avg".
std::string state_tensor_name(std::string_view parameter, std::string_view state);

/// What this rank writes: of all boxes that the ranks of its stage hold, each once over the stage
/// (checkpoint/layout.h). The bytes are the parameters' and the optimizer's own: valid until the
/// next update.
std::vector<checkpoint::StateBox> boxes_to_write(zero::ParameterSet& parameters,
                                                 optim::Optimizer& optimizer,
                                                 const tensor::Program& program,
                                                 bool model_only);

/// Every tensor that all ranks together write.
checkpoint::SourceTensors written_tensors(const config::RunConfig& config,
                                          const config::RunFacts& facts,
                                          bool model_only);

/// Whether a source has what is wanted, in these shapes. Tensors of optimizers that are not wanted
/// are not minded.
/// Errors: kData listing missing, unexpected and differing ones, the first ten of each and how many
/// there are.
Result<void> check_tensors(const checkpoint::TensorSource& source,
                           const checkpoint::SourceTensors& wanted);

/// Reads this rank's part of the weights; ParameterSet::gather() has to follow. Local.
/// Errors: the source's.
Result<void> load_weights(zero::ParameterSet& parameters, checkpoint::TensorSource& source);

/// Reads this rank's part of the optimizer's states. Local.
/// Errors: the source's.
Result<void> load_states(zero::ParameterSet& parameters,
                         optim::Optimizer& optimizer,
                         checkpoint::TensorSource& source);

}  // namespace brigade::loop
