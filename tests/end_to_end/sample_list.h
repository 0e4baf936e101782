// SPDX-License-Identifier: Apache-2.0
/// SampleList: training data written out, for tests that say which token is trained.
///
///   auto source = sample_list(96, {a, b.trained(4)});
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/data/token_source.h"

namespace brigade::end_to_end {

struct Sample {
  std::vector<int64_t> tokens;
  std::vector<int64_t> targets;  ///< data::kNotTrained where nothing is trained

  /// The same with only its first `count` targets trained.
  Sample trained(int64_t count) const;
};

/// Samples [begin, end) of `source`'s first epoch.
std::vector<Sample> samples_of(const data::TokenSource& source, int64_t begin, int64_t end);

/// A sample of one token, over and over.
Sample repeated(int64_t token, int64_t sequence);

/// The samples in order, again and again; all of one length.
std::shared_ptr<const data::TokenSource> sample_list(int64_t vocabulary,
                                                     std::vector<Sample> samples);

}  // namespace brigade::end_to_end
