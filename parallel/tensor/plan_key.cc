// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/plan_key.h"

#include <cstring>

namespace brigade::tensor {

void PlanKey::add(std::string_view text) {
  words_.push_back(text.size());
  while (!text.empty()) {
    uint64_t word = 0;
    const size_t taken = std::min(text.size(), sizeof(word));
    std::memcpy(&word, text.data(), taken);
    words_.push_back(word);
    text.remove_prefix(taken);
  }
}

uint64_t PlanKey::hash() const {
  uint64_t hash = 0x9e3779b97f4a7c15U;
  for (const uint64_t word : words_) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace brigade::tensor
