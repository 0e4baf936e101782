// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/sample_list.h"

#include <algorithm>
#include <string>
#include <utility>

namespace brigade::end_to_end {
namespace {

class SampleList final : public data::TokenSource {
 public:
  SampleList(int64_t vocabulary, std::vector<Sample> samples)
      : vocabulary_(vocabulary), samples_(std::move(samples)) {}

  int64_t vocabulary_size() const override { return vocabulary_; }
  int64_t seq_len() const override { return static_cast<int64_t>(samples_.front().tokens.size()); }
  int64_t sample_count() const override { return static_cast<int64_t>(samples_.size()); }
  int64_t trained_tokens(int64_t begin, int64_t end) const override {
    int64_t count = 0;
    for (int64_t position = begin; position < end; ++position) {
      const std::vector<int64_t>& targets = at(position % sample_count()).targets;
      count += seq_len() - std::ranges::count(targets, data::kNotTrained);
    }
    return count;
  }
  std::string description() const override { return "samples written out"; }

  Result<void> read(int64_t,
                    int64_t index,
                    std::span<int64_t> tokens,
                    std::span<int64_t> targets) const override {
    std::ranges::copy(at(index).tokens, tokens.begin());
    std::ranges::copy(at(index).targets, targets.begin());
    return {};
  }

 private:
  const Sample& at(int64_t index) const { return samples_[static_cast<size_t>(index)]; }

  int64_t vocabulary_;
  std::vector<Sample> samples_;
};

}  // namespace

Sample Sample::trained(int64_t count) const {
  Sample masked = *this;
  std::fill(masked.targets.begin() + count, masked.targets.end(), data::kNotTrained);
  return masked;
}

std::vector<Sample> samples_of(const data::TokenSource& source, int64_t begin, int64_t end) {
  const auto sequence = static_cast<size_t>(source.seq_len());
  std::vector<Sample> samples;
  for (int64_t index = begin; index < end; ++index) {
    Sample sample{std::vector<int64_t>(sequence), std::vector<int64_t>(sequence)};
    value_or_throw(source.read(0, index, sample.tokens, sample.targets));
    samples.push_back(std::move(sample));
  }
  return samples;
}

Sample repeated(int64_t token, int64_t sequence) {
  const std::vector<int64_t> same(static_cast<size_t>(sequence), token);
  return {same, same};
}

std::shared_ptr<const data::TokenSource> sample_list(int64_t vocabulary,
                                                     std::vector<Sample> samples) {
  return std::make_shared<SampleList>(vocabulary, std::move(samples));
}

}  // namespace brigade::end_to_end
