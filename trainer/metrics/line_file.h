// SPDX-License-Identifier: Apache-2.0
/// A file of lines that others may read while it grows: each line is one write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainer/metrics/disk_warning.h"

namespace brigade::metrics {

class LineFile {
 public:
  enum class Begin : uint8_t { kEmpty, kAppend };

  /// Creates the file, and empties it unless told to append. What fails is told to `warning`, which
  /// must outlive this.
  LineFile(std::string path, DiskWarning& warning, Begin begin = Begin::kEmpty);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  void write(std::string_view line);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  DiskWarning& warning_;
  int fd_ = -1;
};

}  // namespace brigade::metrics
