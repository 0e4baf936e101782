// SPDX-License-Identifier: Apache-2.0
/// How far a study is and how long it will take, as text: pure functions.
///
///   [=====>    ] 12/36 runs  4 min 10 s left
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/study/grid.h"
#include "trainer/study/study.h"

namespace brigade::study {

/// What earlier runs of points took, failed ones left out.
class TimeGuess {
 public:
  TimeGuess(const Grid& grid, const Study& study, int64_t cores);

  void took(size_t point, double seconds);

  struct Guess {
    double seconds = 0;
    /// Nothing like it has run yet: from its weights and a stated speed (kGuessedFlopsPerCore).
    bool rough = true;
  };
  /// The mean of the point's own runs; else of those with its model, ranks, threads and program;
  /// else a rough guess, and never above the timeout.
  Guess of(size_t point) const;

 private:
  const Grid& grid_;
  int64_t cores_;
  int64_t steps_;
  double timeout_seconds_;
  std::vector<std::vector<double>> took_;  ///< by point
};

inline constexpr double kGuessedFlopsPerCore = 3e10;
inline constexpr double kGuessedStartSeconds = 2;

/// "4 min 10 s", "1 h 03 min", "12 s".
std::string duration_words(double seconds);

/// "[=====>    ] 12/36 runs  4 min 10 s left"; without a time when it is below 0.
std::string progress_line(int64_t done, int64_t all, double seconds_left);

/// What --list prints: a line per point with its estimated time for one run, the refused points
/// with their reasons, what stays constant, and the total over all repeats.
std::string list_text(const Grid& grid, const Study& study, const TimeGuess& guess);

}  // namespace brigade::study
