// SPDX-License-Identifier: Apache-2.0
/// The training and validation data that a config names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/config/run_config.h"
#include "trainer/data/token_source.h"

namespace brigade::loop {

struct Sources {
  std::shared_ptr<const data::TokenSource> training;
  std::shared_ptr<const data::TokenSource> validation;  ///< null unless validation.enable

  /// A line for each, for the start block.
  std::vector<std::string> descriptions() const;
};

/// Errors: those of data::ByteFile; kUsage for a data set that is neither a file nor "synthetic".
Result<Sources> open_sources(const config::RunConfig& config);

}  // namespace brigade::loop
