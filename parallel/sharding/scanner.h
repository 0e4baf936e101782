// SPDX-License-Identifier: Apache-2.0
/// Scanner: reads the text forms of specs and types, character by character, blanks skipped.
///
///   Scanner in("f32[8@x]");
///   in.word();        // "f32"
///   in.take('[');     // true
///
/// Errors name the position from 1 and show the whole text. Not part of the interface of others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/sharding/partition_spec.h"

namespace brigade::sharding {

/// The sets behind a spec or a type: `{U:a,b, R:c}`; `Umax:` or `Umin:` for terms of a maximum or
/// minimum.
struct AxisSets {
  AxisNames unreduced;
  AxisNames reduced;
  Reduction kind = Reduction::kSum;
};

/// The text form; empty if both sets are.
std::string to_string(const AxisSets& sets);

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Consumes `c` if it comes next.
  bool take(char c);
  bool at_end();
  /// Letters, digits and _; empty if something else comes next.
  std::string word();
  /// A number of at least 0; nothing if something else comes next or it is too large.
  std::optional<int64_t> number();
  /// `{U:a,b, R:c}`, or nothing at all.
  Result<AxisSets> axis_sets();

  /// kUsage: expected what, found what, where.
  tl::unexpected<Error> expected(std::string_view what);

 private:
  void skip_blanks();
  Result<void> one_set(AxisNames& into);

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace brigade::sharding
