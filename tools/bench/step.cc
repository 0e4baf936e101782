// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/step.h"

#include <chrono>
#include <fstream>
#include <memory>
#include <ostream>
#include <sstream>
#include <unistd.h>
#include <utility>

#include <torch/version.h>

#include "parallel/base/text.h"
#include "tools/bench/from_all.h"
#include "tools/bench/record.h"
#include "tools/train/train.h"
#include "trainer/data/sources.h"
#include "trainer/loop/model_shape.h"
#include "trainer/loop/rank_work.h"
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

/// A rank that times its steps; rank 0 prints what all found.
class TimedRun final : public loop::RankWork {
 public:
  TimedRun(const config::RunConfig& config, int64_t rank, std::ostream& out)
      : config_(config), rank_(rank), out_(out) {}

  Result<void> run(collective::World& world, const data::Sources& sources) override {
    auto trainer = loop::Trainer::create(
        world, {.config = config_, .training = sources.training, .validation = sources.validation});
    if (!trainer) {
      return fail(trainer.error());
    }
    trainer_ = std::move(*trainer);
    times_ = facts_of(config_, *trainer_);
    if (Result<void> done = time_steps(); !done) {
      return done;
    }
    Result<std::vector<double>> peaks =
        from_all(world, static_cast<double>(metrics::peak_resident_bytes()) / (1024.0 * 1024.0));
    if (!peaks) {
      return fail(peaks.error());
    }
    times_.peak_rss_mb = std::move(*peaks);
    if (rank_ == 0) {
      out_ << to_json(times_) << std::endl;
    }
    return {};
  }

 private:
  Result<void> time_steps() {
    int64_t bytes_before = 0;
    for (int64_t step = 0; step < config_.training.steps; ++step) {
      if (static_cast<size_t>(step) == kWarmupSteps) {
        bytes_before = loopback_bytes();
      }
      const Clock::time_point begin = Clock::now();
      const Result<loop::StepReport> report = trainer_->step();
      if (!report) {
        return fail(report.error());
      }
      times_.step_ms.push_back(milliseconds_since(begin));
      times_.losses.push_back(report->loss);
      times_.grad_norms.push_back(report->gradient_norm);
      if (step == 0) {
        times_.startup_s = process_age_s();
      }
    }
    const int64_t timed = config_.training.steps - static_cast<int64_t>(kWarmupSteps);
    times_.loopback_bytes = timed > 0 ? (loopback_bytes() - bytes_before) / timed : 0;
    return {};
  }

  const config::RunConfig& config_;
  const int64_t rank_;
  std::ostream& out_;
  std::unique_ptr<loop::Trainer> trainer_;
  StepTimes times_;
};

}  // namespace

int step(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err) {
  const auto rank = [&out](const config::RunConfig& config, const launch::RankIdentity& who) {
    return launch::finished(
        loop::with_world(config, who, std::make_unique<TimedRun>(config, who.rank, out)));
  };
  return train::train(command_line, rank, err, err, {.words = 3, .name = "brigade bench step"});
}

}  // namespace brigade::bench
