// SPDX-License-Identifier: Apache-2.0
/// The flags of `brigade convert`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/checkpoint/element_type.h"

namespace brigade::convert {

enum class Format : uint8_t { kHuggingFace, kBrigade };

struct Flags {
  std::string from;
  std::string to;
  std::optional<Format> format;                 ///< of `to`; empty: the other one than `from` has
  std::optional<checkpoint::ElementType> type;  ///< empty: as stored
  uint64_t shard_limit = 0;                     ///< bytes
  bool overwrite = false;
  bool help = false;
};

/// `arguments` without program and subcommand.
/// Errors: kUsage for an unknown flag (with the nearest), a value that is none, or a path that is
///         missing.
Result<Flags> parse_flags(const std::vector<std::string>& arguments);

/// "  --from=PATH   ..." for every flag.
std::string flags_help();

}  // namespace brigade::convert
