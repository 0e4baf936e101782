// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/profiler.h"

#include <map>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/base/timeline_file.h"
#include "parallel/collective/gather_texts.h"
#include "parallel/tensor/program.h"
#include "trainer/metrics/memory.h"
#include "trainer/scaling/profile_folder.h"

namespace brigade::loop {
namespace {

/// This rank's share of what its groups sent in the step that the ledger holds.
std::map<std::string, double> ledger_bytes(const tensor::Program& program) {
  std::map<std::string, double> bytes;
  for (const tensor::LedgerEntry& entry : program.ledger().entries()) {
    double members = 1;
    for (const std::string& axis : entry.axes) {
      members *= static_cast<double>(program.mesh().axis_size(axis));
    }
    const std::string along = join(entry.axes, "·");
    if (entry.group_bytes > 0) {
      bytes[along] += static_cast<double>(entry.group_bytes) / members;
    }
  }
  return bytes;
}

/// Messages between stages stand in no ledger.
double message_bytes(const RankTimeline& timeline, int32_t step) {
  double bytes = 0;
  for (const TimedSpan& span : timeline.spans) {
    if (span.activity == Activity::kSend && span.step == step) {
      bytes += static_cast<double>(span.bytes);
    }
  }
  return bytes;
}

Result<scaling::Profile> profile_of(const std::vector<std::string>& facts,
                                    const std::vector<std::string>& timelines) {
  scaling::Profile profile;
  for (size_t rank = 0; rank < facts.size(); ++rank) {
    Result<scaling::RankFacts> told = scaling::parse_rank_facts(facts[rank]);
    Result<RankTimeline> timeline =
        parse_timeline(timelines[rank], concat("the timeline of rank ", rank));
    if (!told || !timeline) {
      return fail(told ? timeline.error() : told.error());
    }
    profile.ranks.push_back(std::move(*told));
    profile.timelines.push_back(std::move(*timeline));
  }
  return profile;
}

}  // namespace

Profiler::Profiler(const config::RunConfig& config,
                   collective::World& world,
                   std::shared_ptr<Timeline> timeline)
    : config_(config), ranks_(world.everyone("profile")), timeline_(std::move(timeline)) {}

bool Profiler::is_due(int64_t step) const {
  return config_.profiling.enable_profiling && step % config_.profiling.profile_freq == 0;
}

Result<std::vector<std::string>> Profiler::write(int64_t step, Trainer& trainer) {
  const RankTimeline mine = last_steps(
      *timeline_,
      config_.profiling.profiler_active,
      {.rank = ranks_->rank(), .ranks = ranks_->size(), .clock = clock_of_this_machine()});
  scaling::RankFacts facts = {.peak_bytes = metrics::peak_resident_bytes(),
                              .bytes_by_axis = ledger_bytes(trainer.program())};
  if (const double sent = message_bytes(mine, static_cast<int32_t>(step)); sent > 0) {
    facts.bytes_by_axis["pp"] = sent;
  }
  const auto all_facts = collective::gather_texts(*ranks_, scaling::to_json(facts), 0);
  if (!all_facts) {
    return fail(all_facts.error());
  }
  const auto timelines = collective::gather_texts(*ranks_, timeline_text(mine), 0);
  if (!timelines) {
    return fail(timelines.error());
  }
  std::vector<std::string> lines;
  if (ranks_->rank() == 0) {
    const std::string folder = concat(
        config_.job.dump_folder, "/", config_.profiling.save_traces_folder, "/iteration_", step);
    const auto profile = profile_of(*all_facts, *timelines);
    const Result<void> written =
        profile ? scaling::write_profile(folder, *profile) : fail(profile.error());
    if (!written) {
      return fail(written.error());
    }
    lines.push_back(
        concat("profile of ", folder, "/trace.json: ", scaling::time_words(profile->timelines)));
  }
  return lines;
}

}  // namespace brigade::loop
