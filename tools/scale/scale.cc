// SPDX-License-Identifier: Apache-2.0
#include "tools/scale/scale.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <thread>
#include <utility>

#include "parallel/base/text.h"
#include "tools/scale/flags.h"
#include "tools/scale/measured.h"
#include "tools/scale/stop_request.h"
#include "trainer/checkpoint/output_file.h"
#include "trainer/config/load.h"
#include "trainer/launch/exit_code.h"
#include "trainer/loop/run_memory.h"
#include "trainer/report/scaling_page.h"
#include "trainer/scaling/analyze.h"
#include "trainer/scaling/results_csv.h"
#include "trainer/scaling/results_json.h"
#include "trainer/scaling/statistics.h"
#include "trainer/study/progress.h"
#include "trainer/study/study_run.h"

namespace brigade::scale {
namespace {

using study::StudyEnd;

/// The most bytes that a rank of such a run will need.
Result<int64_t> planned_bytes(const config::RunConfig& config, const config::RunFacts& facts) {
  const auto ranks = loop::planned_memory(config, facts);
  if (!ranks) {
    return fail(ranks.error());
  }
  int64_t most = 0;
  for (const tensor::CategoryBytes& rank : *ranks) {
    most = std::max(most, rank.total());
  }
  return most;
}

/// One study on its way: runs, lines about them, and the files at the end.
class StudyRun {
 public:
  StudyRun(const study::Study& study, const study::Grid& grid, std::ostream& out)
      : study_(study), grid_(grid), out_(out), guess_(grid, study, cores()) {}

  static int64_t cores() { return static_cast<int64_t>(std::thread::hardware_concurrency()); }

  void list() { out_ << study::list_text(grid_, study_, guess_) << std::flush; }

  Result<StudyEnd> run(const Flags& flags) {
    const Result<config::RunConfig> base = config::load(study_.base, study_.settings);
    if (!base) {
      return fail(base.error());
    }
    const study::StudyFacts facts = study::facts_of(study_, *base);
    Result<study::Store> store = study::Store::open(study_.output_folder, facts);
    if (!store) {
      return fail(store.error());
    }
    list();
    const StopRequest stop;
    const Result<Peaks> peaks = measure_peaks(grid_, study_, kept_peaks(study_.output_folder));
    if (!peaks) {
      return fail(peaks.error());
    }
    if (Result<void> kept = keep_peaks(study_.output_folder, *peaks); !kept) {
      return fail(kept.error());
    }
    const Result<StudyEnd> end = measure(*store, flags, stop);
    if (!end) {
      return end;
    }
    Result<scaling::Results> results = measured(grid_, study_, *store, facts, *peaks);
    if (!results) {
      return fail(results.error());
    }
    scaling::analyze(*results);
    return write(*results).and_then([&] { return conclude(*results, *end); });
  }

 private:
  int64_t all() const { return static_cast<int64_t>(grid_.points.size()) * study_.repeats; }

  Result<StudyEnd> measure(const study::Store& store, const Flags& flags, const StopRequest& stop) {
    left_.assign(grid_.points.size(), study_.repeats);
    const study::StudyEvents events = {
        .begins = {},
        .ended = [this](const study::Turn& turn, const study::RunResult& run, bool kept) {
          ended(turn, run, kept);
        }};
    return study::run_study(
        grid_,
        study_,
        store,
        {.stop = [&stop] { return stop.made(); }, .more_settings = profile_settings(study_)},
        events,
        flags.again);
  }

  void ended(const study::Turn& turn, const study::RunResult& run, bool kept) {
    ++done_;
    --left_[turn.point];
    if (run.failure.empty()) {
      guess_.took(turn.point, run.seconds);
    }
    if (kept) {
      return;
    }
    const std::string what = run.failure.empty()
                                 ? concat(in_tenths(scaling::median(run.step_ms)), " ms a step")
                                 : concat("failed: ", run.failure);
    out_ << study::progress_line(done_, all(), seconds_left()) << "  "
         << grid_.points[turn.point].point.id << ": " << what << std::endl;
  }

  static std::string in_tenths(double value) {
    const int64_t tenths = std::llround(10 * value);
    return concat(tenths / 10, ".", tenths % 10);
  }

  double seconds_left() const {
    double seconds = 0;
    for (size_t point = 0; point < left_.size(); ++point) {
      seconds += static_cast<double>(left_[point]) * guess_.of(point).seconds;
    }
    return seconds;
  }

  Result<void> write(const scaling::Results& results) const {
    const std::string& folder = study_.output_folder;
    return checkpoint::replace_durably(folder + "/scale.json", scaling::to_json(results))
        .and_then([&] {
          return checkpoint::replace_durably(folder + "/scale.csv", scaling::to_csv(results));
        })
        .and_then([&] {
          return checkpoint::replace_durably(folder + "/scale.html", report::scaling_page(results));
        });
  }

  Result<StudyEnd> conclude(const scaling::Results& results, StudyEnd end) const {
    size_t failed = 0;
    for (const scaling::PointResult& point : results.points) {
      if (!point.failure.empty()) {
        ++failed;
        out_ << point.point.id << ": " << point.failure << '\n';
      } else if (end == StudyEnd::kFinished && point.repeats < study_.repeats) {
        out_ << point.point.id << ": " << study_.repeats - point.repeats << " of "
             << counted(study_.repeats, "repeat") << " failed; --again repeats them\n";
      }
    }
    const std::string& folder = study_.output_folder;
    out_ << "\npage:    " << folder << "/scale.html\nnumbers: " << folder << "/scale.json, "
         << folder << "/scale.csv" << std::endl;
    if (end == StudyEnd::kStopped) {
      out_ << "stopped: the same command goes on with the " << all() - done_
           << " runs that are left" << std::endl;
    } else if (failed == results.points.size()) {
      return fail(ErrorCode::kData,
                  concat("no point of study ",
                         study_.name,
                         " could be measured; its page holds what each of them said last"));
    }
    return end;
  }

  const study::Study& study_;
  const study::Grid& grid_;
  std::ostream& out_;
  study::TimeGuess guess_;
  std::vector<int64_t> left_;  // repeats, by point
  int64_t done_ = 0;
};

Result<StudyEnd> carry_out(const Flags& flags, std::ostream& out) {
  const Result<study::Study> study = study::load_study(flags.config);
  if (!study) {
    return fail(ErrorCode::kUsage, study.error().text);  // also one that is not there
  }
  const Result<study::Grid> grid =
      study::points_of(*study, {.cores = StudyRun::cores(), .planned_bytes = planned_bytes});
  if (!grid) {
    return fail(ErrorCode::kUsage, grid.error().text);
  }
  StudyRun run(*study, *grid, out);
  if (flags.list) {
    run.list();
    return StudyEnd::kFinished;
  }
  return run.run(flags);
}

}  // namespace

int scale(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err) {
  const Result<Flags> flags =
      parse_flags({command_line.begin() + std::min<std::ptrdiff_t>(2, std::ssize(command_line)),
                   command_line.end()});
  if (flags && flags->help) {
    out << help_text();
    return launch::kExitDone;
  }
  const Result<StudyEnd> end =
      flags ? carry_out(*flags, out) : Result<StudyEnd>(fail(flags.error()));
  if (!end) {
    err << "brigade: " << end.error().text << std::endl;
    return launch::exit_code(end.error().code);
  }
  return *end == StudyEnd::kFinished ? launch::kExitDone : launch::kExitStoppedEarly;
}

}  // namespace brigade::scale
