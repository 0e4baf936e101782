// SPDX-License-Identifier: Apache-2.0
/// module_rows: the parameters of a torch::nn::Module as rows of facts, each with its unit.
/// Internal to the module.
#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/base/result.h"
#include "parallel/sharding/parameter_facts.h"

namespace torch::nn {
class Module;
}

namespace brigade::zero {

struct ModuleRow {
  sharding::ParameterFacts facts;
  at::Tensor parameter;  ///< the module's own
};

/// What of a module is trained, and what only has to be equal on all ranks.
struct ModuleRows {
  std::vector<ModuleRow> trained;   ///< in the order of named_parameters(), each tensor once
  std::vector<at::Tensor> frozen;   ///< requires_grad is false
  std::vector<at::Tensor> buffers;  ///< of the module and its submodules
};

/// `units`: paths of submodules, "features" or "blocks.0"; a parameter lies in the longest one that
/// its name begins with, else in the unit "", which is the rest of the module. Shapes of `facts`
/// are global, logical axes are nameless, and no initialiser is meant.
///
/// Errors: kUsage for a unit that holds no parameter, a parameter that two units share, and one
///         that is not fp32 on the CPU; each is named.
Result<ModuleRows> module_rows(const torch::nn::Module& module,
                               const std::vector<std::string>& units);

/// The names of the direct submodules that have parameters: the units where none are said.
std::vector<std::string> children_of(const torch::nn::Module& module);

}  // namespace brigade::zero
