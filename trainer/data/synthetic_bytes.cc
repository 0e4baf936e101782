// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/synthetic_bytes.h"

#include <numeric>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::data {
namespace {

uint64_t splitmix64(uint64_t state) {
  uint64_t z = state + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

SyntheticBytes::SyntheticBytes(int64_t seq_len, uint64_t seed)
    : seq_len_(seq_len), seed_(seed), bytes_(static_cast<size_t>(kBytes)) {
  BRIGADE_CHECK(seq_len >= 1 && seq_len < kBytes - 1, seq_len);
  for (uint64_t i = 0; i < bytes_.size(); ++i) {
    const uint64_t random = splitmix64(seed + i);
    bytes_[i] = static_cast<uint8_t>(((random & 0xff) * (random >> 8 & 0xff)) >> 8);
  }
}

int64_t SyntheticBytes::sample_count() const {
  const int64_t starts = kBytes - seq_len_ - 1;
  return starts / std::gcd(starts, seq_len_);
}

Result<void> SyntheticBytes::read(int64_t epoch,
                                  int64_t index,
                                  std::span<int64_t> tokens,
                                  std::span<int64_t> targets) const {
  const auto length = static_cast<size_t>(seq_len_);
  BRIGADE_CHECK(tokens.size() == length && targets.size() == length, tokens.size());
  BRIGADE_CHECK(epoch >= 0 && index >= 0 && index < sample_count(), epoch, index);
  const auto start = static_cast<size_t>((index * seq_len_) % (kBytes - seq_len_ - 1));
  for (size_t i = 0; i < length; ++i) {
    tokens[i] = bytes_[start + i];
    targets[i] = bytes_[start + i + 1];
  }
  return {};
}

int64_t SyntheticBytes::trained_tokens(int64_t begin, int64_t end) const {
  BRIGADE_CHECK(begin >= 0 && begin <= end, begin, end);
  return (end - begin) * seq_len_;
}

std::string SyntheticBytes::description() const {
  return concat("synthetic data of seed ",
                seed_,
                ": ",
                with_thousands(kBytes),
                " bytes, ",
                with_thousands(sample_count()),
                " samples of seq_len ",
                with_thousands(seq_len_));
}

}  // namespace brigade::data
