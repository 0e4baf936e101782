// SPDX-License-Identifier: Apache-2.0
/// Strong integer ids: a stage is not a microbatch, and neither converts into the other.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>

namespace brigade {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(int64_t value) : value_(value) {}

  constexpr int64_t value() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;

  friend std::ostream& operator<<(std::ostream& out, Id id) { return out << id.value_; }

 private:
  int64_t value_ = -1;  // -1: none
};

using StageId = Id<struct StageTag>;  ///< A piece of the model, 0 = the one with the embedding.
using MicrobatchId =
    Id<struct MicrobatchTag>;  ///< A microbatch of this data rank in this step, from 0.

}  // namespace brigade

template <class Tag>
struct std::hash<brigade::Id<Tag>> {
  size_t operator()(brigade::Id<Tag> id) const noexcept { return std::hash<int64_t>{}(id.value()); }
};
