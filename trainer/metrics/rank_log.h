// SPDX-License-Identifier: Apache-2.0
/// The log of one rank: a file whose lines carry time, rank and level.
///
///   RankLog log("outputs/rank_3.log", 3, LineFile::Begin::kEmpty, warning);
///   log.info("connected to 7 peers");   // 2026-11-30 12:00:00.123 [rank 3] info: connected ...
///
/// The library behind it stays in the source file: its formatter must not meet the copy that
/// libtorch's headers bring.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "trainer/metrics/disk_warning.h"
#include "trainer/metrics/line_file.h"

namespace brigade::metrics {

/// Thread safety: shared use is safe.
class RankLog {
 public:
  /// Empties the file or appends to it; what cannot be written is told to `warning`, which must
  /// outlive this.
  RankLog(const std::string& path, int rank, LineFile::Begin begin, DiskWarning& warning);
  ~RankLog();
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;

  void info(std::string_view text);
  void warn(std::string_view text);
  void error(std::string_view text);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace brigade::metrics
