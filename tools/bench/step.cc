// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/step.h"

#include <chrono>
#include <fstream>
#include <ostream>
#include <span>
#include <sstream>
#include <unistd.h>
#include <utility>

#include <torch/version.h>

#include "parallel/base/text.h"
#include "tools/bench/record.h"
#include "tools/train/train.h"
#include "trainer/data/sources.h"
#include "trainer/loop/model_shape.h"
#include "trainer/loop/process_memory.h"
#include "trainer/loop/run_rank.h"
#include "trainer/loop/trainer.h"
#include "trainer/metrics/memory.h"

namespace brigade::bench {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Bytes sent over the loopback device since the machine started.
int64_t loopback_bytes() {
  std::ifstream devices("/proc/net/dev");
  std::string line;
  while (std::getline(devices, line)) {
    const size_t colon = line.find("lo:");
    if (colon != std::string::npos) {
      std::istringstream fields(line.substr(colon + 3));
      int64_t value = 0;
      for (int field = 0; field < 9; ++field) {  // the ninth is "transmitted bytes"
        fields >> value;
      }
      return value;
    }
  }
  return 0;
}

/// Seconds since this process started.
double process_age_s() {
  std::ifstream stat("/proc/self/stat");
  std::string text;
  std::getline(stat, text);
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int field = 3; field < 22; ++field) {
    fields >> skipped;
  }
  double started_ticks = 0.0;
  fields >> started_ticks;
  double uptime_s = 0.0;
  std::ifstream("/proc/uptime") >> uptime_s;
  return uptime_s - started_ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// All ranks' values, by rank.
Result<std::vector<double>> from_all(collective::World& world, double value) {
  std::vector<int64_t> ranks(static_cast<size_t>(world.size()));
  std::vector<double> values(ranks.size());
  std::vector<collective::Spans> parts;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank] = static_cast<int64_t>(rank);
    parts.push_back({collective::bytes_of(std::span<double>(&values[rank], 1))});
  }
  const std::unique_ptr<collective::Communicator> group = world.group(std::move(ranks), "bench");
  collective::Work work =
      group->all_gather({collective::bytes_of(std::span<double>(&value, 1))}, std::move(parts));
  if (Result<void> done = work.wait(); !done) {
    return fail(done.error());
  }
  return values;
}

StepTimes facts_of(const config::RunConfig& config, const loop::Trainer& trainer) {
  const config::RunFacts& facts = trainer.facts();
  const std::unique_ptr<const decoder::Model> model = loop::model_of(config);
  StepTimes times;
  times.description = config.model.flavor;
  times.ranks = facts.world_size;
  times.threads_per_rank = config.launch.threads_per_rank;
  times.global_batch = facts.global_batch;
  times.microbatch = facts.microbatch_size;
  times.tokens_per_step = facts.tokens_per_step;
  times.parameters = model->parameter_count();
  times.flops_per_token = model->flops_per_token(config.training.seq_len);
  times.mesh = value_or_throw(mesh::Mesh::create(facts.axes)).to_string();
  times.optimizer = config.optimizer.name;
  times.matmul = trainer.matmul().to_string();
  times.libtorch = TORCH_VERSION;
  return times;
}

Result<StepTimes> measure(const config::RunConfig& config,
                          collective::World& world,
                          const data::Sources& sources) {
  auto trainer = loop::Trainer::create(
      world, {.config = config, .training = sources.training, .validation = sources.validation});
  if (!trainer) {
    return fail(trainer.error());
  }
  StepTimes times = facts_of(config, **trainer);
  int64_t bytes_before = 0;
  for (int64_t step = 0; step < config.training.steps; ++step) {
    if (static_cast<size_t>(step) == kWarmupSteps) {
      bytes_before = loopback_bytes();
    }
    const Clock::time_point begin = Clock::now();
    const Result<loop::StepReport> report = (*trainer)->step();
    if (!report) {
      return fail(report.error());
    }
    times.step_ms.push_back(milliseconds_since(begin));
    times.losses.push_back(report->loss);
    times.grad_norms.push_back(report->gradient_norm);
    if (step == 0) {
      times.startup_s = process_age_s();
    }
  }
  const int64_t timed = config.training.steps - static_cast<int64_t>(kWarmupSteps);
  times.loopback_bytes = timed > 0 ? (loopback_bytes() - bytes_before) / timed : 0;
  Result<std::vector<double>> peaks =
      from_all(world, static_cast<double>(metrics::peak_resident_bytes()) / (1024.0 * 1024.0));
  if (!peaks) {
    return fail(peaks.error());
  }
  times.peak_rss_mb = std::move(*peaks);
  return times;
}

Result<void> bench_rank(const config::RunConfig& config,
                        const launch::RankIdentity& who,
                        std::ostream& out) {
  return loop::with_world(
      config, who, [&](collective::World& world, const data::Sources& sources) -> Result<void> {
        const Result<StepTimes> times = measure(config, world, sources);
        if (!times) {
          return fail(times.error());
        }
        if (who.rank == 0) {
          out << to_json(*times) << std::endl;
        }
        return {};
      });
}

}  // namespace

int step(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err) {
  const auto rank = [&out](const config::RunConfig& config, const launch::RankIdentity& who) {
    return bench_rank(config, who, out);
  };
  return train::train(command_line, rank, err, err, {.words = 3, .name = "brigade bench step"});
}

}  // namespace brigade::bench
