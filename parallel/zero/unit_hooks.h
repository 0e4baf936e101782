// SPDX-License-Identifier: Apache-2.0
/// UnitHooks: how a parameter of a sharded module leads back to its units: by the hook that
/// autograd calls when its gradient is there. Internal to the module.
#pragma once

#include <memory>

#include "parallel/zero/module_rows.h"
#include "parallel/zero/module_units.h"

namespace brigade::zero {

/// Hooks the trained parameters of `rows`; which unit a submodule of `module` is, follows from its
/// path. Taken off again on destruction.
class UnitHooks {
 public:
  UnitHooks(const torch::nn::Module& module,
            const ModuleRows& rows,
            const std::shared_ptr<ModuleUnits>& units,
            const ParameterSet& set);
  ~UnitHooks();
  UnitHooks(const UnitHooks&) = delete;
  UnitHooks& operator=(const UnitHooks&) = delete;

 private:
  const ModuleRows& rows_;
};

/// A submodule that is a unit of some ShardedModule.
struct OwnedUnit {
  std::shared_ptr<ModuleUnits> units;  ///< none: it is not
  size_t unit = 0;
};

OwnedUnit owned_unit(const torch::nn::Module& module);

}  // namespace brigade::zero
