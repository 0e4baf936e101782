// SPDX-License-Identifier: Apache-2.0
#include "models/decoder/units.h"

#include <charconv>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::decoder {
namespace {

constexpr std::string_view kBlockPrefix = "block.";

}  // namespace

sharding::Interval stage_layers(int64_t layers, int64_t stage, int64_t stages) {
  return sharding::interval(layers, stage, stages);
}

std::string block_unit(int64_t layer) {
  return concat(kBlockPrefix, layer);
}

int64_t layer_of(std::string_view unit) {
  BRIGADE_CHECK(unit.starts_with(kBlockPrefix), unit);
  const std::string_view digits = unit.substr(kBlockPrefix.size());
  int64_t layer = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), layer);
  BRIGADE_CHECK(error == std::errc() && end == digits.data() + digits.size(), unit);
  return layer;
}

std::vector<std::string> unit_names(int64_t layers, int64_t stage, int64_t stages) {
  std::vector<std::string> names;
  if (stage == 0) {
    names.emplace_back(kEmbeddingUnit);
  }
  const sharding::Interval here = stage_layers(layers, stage, stages);
  for (int64_t layer = here.begin; layer < here.end; ++layer) {
    names.push_back(block_unit(layer));
  }
  if (stage == stages - 1) {
    names.emplace_back(kHeadUnit);
  }
  return names;
}

}  // namespace brigade::decoder
