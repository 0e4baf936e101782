// SPDX-License-Identifier: Apache-2.0
/// What must be equal on all ranks before a run may begin, and is checked instead of hoped for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/collective/communicator.h"
#include "trainer/config/resolve.h"
#include "trainer/config/run_config.h"
#include "trainer/data/token_source.h"

namespace brigade::loop {

/// Something that each rank found out for itself.
struct SharedFact {
  std::string what;   ///< "recipe"
  std::string value;  ///< compared as a hash; shown when it differs
};

/// The recipe (but for its [job]), the training data (its description, first and last sample), the
/// instruction set of our kernels and libtorch's version.
/// Errors: the source's.
Result<std::vector<SharedFact>> shared_facts(const config::RunConfig& config,
                                             const data::TokenSource& training);

/// How many samples of what length, and hashes of the first and the last: equal for equal data,
/// wherever it lies.
/// Errors: the source's.
Result<std::string> data_fingerprint(const data::TokenSource& source);

/// The error of the lowest rank that has one, on every rank, with that rank as its origin; empty
/// when no rank has. Collective. Errors: the communicator's.
Result<std::optional<Error>> first_error(collective::Communicator& world, const Result<void>& mine);

/// Collective. Errors: kMismatch naming the first fact that differs and this rank's value of it.
Result<void> agree_on(collective::Communicator& world, const std::vector<SharedFact>& facts);

/// Whether every use of randomness and every tied tag of a run has a stream of its own (law 5).
/// Errors: kUsage naming the two that collide.
Result<void> check_streams(const config::RunConfig& config, const config::RunFacts& facts);

}  // namespace brigade::loop
