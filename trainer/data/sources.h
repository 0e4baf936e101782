// SPDX-License-Identifier: Apache-2.0
/// The training and validation data that a config names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/config/run_config.h"
#include "trainer/data/token_source.h"

namespace brigade::data {

struct Sources {
  std::shared_ptr<const TokenSource> training;
  std::shared_ptr<const TokenSource> validation;  ///< null unless validation.enable

  /// A line for each, for the start block.
  std::vector<std::string> descriptions() const;
};

/// Opens both, so that a launcher learns what is wrong with them before any rank starts.
/// Errors: those of ByteFile and check_vocabulary; kUsage for a data set that is neither a file nor
///         "synthetic".
Result<Sources> open_sources(const config::RunConfig& config);

/// Errors: kData when the source has ids that the model has not.
Result<void> check_vocabulary(const TokenSource& source, const config::Model& model);

}  // namespace brigade::data
