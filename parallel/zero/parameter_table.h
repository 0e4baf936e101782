// SPDX-License-Identifier: Apache-2.0
/// ParameterTable: the parameters of a ParameterSet, placed, tied, allocated and listed in units.
/// Internal to the module.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/tensor/program.h"
#include "parallel/zero/options.h"
#include "parallel/zero/parameter.h"
#include "parallel/zero/unit.h"

namespace brigade::zero {

struct ParameterTable {
  tensor::Program& program;
  std::vector<sharding::ParameterFacts> facts;
  Options options;
  std::vector<std::unique_ptr<Parameter>> parameters = {};  ///< in the order of facts
  std::map<std::string, Parameter*, std::less<>> by_name = {};
  std::vector<Unit> units = {};  ///< in the order of their first parameters

  /// Errors: ParameterSet::create()'s.
  static Result<std::unique_ptr<ParameterTable>> create(tensor::Program& program,
                                                        std::vector<sharding::ParameterFacts> facts,
                                                        Options options);

  Parameter& find(std::string_view name) const;
  /// What this rank updates: all rows at stage 0, its own from stage 1 on.
  sharding::Interval updated_rows(const Parameter& parameter) const;
  /// The same as a box of the global tensor. A scalar's has no dims.
  sharding::Box updated_box(const Parameter& parameter) const;
  sharding::Box updated_box(const Parameter& parameter, int64_t rank) const;

  // Steps of create(), in this order.
  Result<void> check() const;
  Result<void> add(const sharding::ParameterFacts& row);
  Result<void> tie(Parameter& use);
  void allocate(Parameter& parameter);
  void list_in_unit(Parameter& parameter);
};

}  // namespace brigade::zero
