// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/checkpoint.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <utility>

#include "parallel/base/text.h"
#include "tools/bench/checkpoint_record.h"
#include "tools/bench/from_all.h"
#include "tools/bench/plain_file.h"
#include "tools/train/train.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/folder.h"
#include "trainer/checkpoint/saver.h"
#include "trainer/checkpoint/utc_time.h"
#include "trainer/config/flat.h"
#include "trainer/data/sources.h"
#include "trainer/loop/checkpoints.h"
#include "trainer/loop/rank_work.h"
#include "trainer/loop/trainer.h"

namespace brigade::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Boxes = std::vector<checkpoint::StateBox>;

double milliseconds(std::chrono::duration<double, std::milli> time) {
  return time.count();
}

/// The rounds of one rank. Rank 0 alone touches the plain file, while the others wait.
class Rounds {
 public:
  Rounds(collective::World& world, loop::Trainer& trainer, std::string folder)
      : world_(world), trainer_(trainer), folder_(std::move(folder)) {}

  Result<void> prepare(const config::RunConfig& config) {
    head_.run = checkpoint::new_run();
    head_.saved_at = checkpoint::utc_time();
    head_.recipe = config::flat(config);
    head_.recipe_hash = config::recipe_hash(config);
    head_.mesh = loop::mesh_of(trainer_.facts());
    boxes_ = trainer_.boxes_to_write(/*model_only=*/false);
    copy_.resize(checkpoint::byte_count(boxes_));
    const Result<std::vector<double>> shares = from_all(world_, static_cast<double>(copy_.size()));
    if (!shares) {
      return fail(shares.error());
    }
    for (const double share : *shares) {
      total_ += static_cast<size_t>(share);
    }
    plain_.assign(leads() ? total_ : 0, std::byte{0x5a});
    return open_savers();
  }

  size_t total() const { return total_; }

  Result<CheckpointRound> run(int64_t round) {
    const int64_t step = 2 * round;
    CheckpointRound times;
    double untimed = 0.0;  // whoever reads first what was just written waits for the writing
    std::vector<std::pair<double*, Part>> parts = {
        {&times.plain_write, [this] { return write_plain(); }},
        {&times.save, [this, step] { return save(step); }},
        {&times.copy, [this] { return copy(); }},
        {&times.stall, [this, step] { return save_in_background(step + 1); }},
        {&untimed, [this] { return read_plain(); }},
        {&untimed, [this, step] { return load(step); }},
        {&times.plain_read, [this] { return read_plain(); }},
        {&times.load, [this, step] { return load(step); }}};
    if (round % 2 == 1) {  // a disk may be slower for whoever comes second
      std::swap(parts[0], parts[1]);
      std::swap(parts[6], parts[7]);
    }
    for (const auto& [time, part] : parts) {
      const Result<double> taken = slowest(part);
      if (!taken) {
        return fail(taken.error());
      }
      *time = *taken;
    }
    return clear(step).transform([&] { return times; });
  }

 private:
  using Part = std::function<Result<double>()>;  // milliseconds

  bool leads() const { return world_.rank() == 0; }
  std::string plain_path() const { return folder_ + "/plain"; }

  Result<void> open_savers() {
    for (const bool in_background : {false, true}) {
      auto saver = checkpoint::Saver::open(
          world_,
          {.folder = concat(folder_, in_background ? "/background" : "/at_once"),
           .in_background = in_background});
      if (!saver) {
        return fail(saver.error());
      }
      (in_background ? background_ : at_once_) = std::move(*saver);
    }
    return {};
  }

  /// All begin together; the longest time of a rank.
  Result<double> slowest(const Part& part) {
    const Result<double> own = meet().and_then(part);
    if (!own) {
      return own;
    }
    return from_all(world_, *own).transform([](const std::vector<double>& all) {
      return *std::max_element(all.begin(), all.end());
    });
  }

  Result<void> meet() {
    return from_all(world_, 0.0).transform([](const std::vector<double>&) {});
  }

  template <class Do>
  static Result<double> timed(const Do& work) {
    const Clock::time_point begin = Clock::now();
    const Result<void> done = work();
    return done ? Result<double>(milliseconds(Clock::now() - begin)) : fail(done.error());
  }

  Result<double> write_plain() {
    return leads() ? timed([&] { return write_plainly(plain_path(), plain_); }) : 0.0;
  }

  Result<double> read_plain() {
    return leads() ? forget(folder_).and_then(
                         [&] { return timed([&] { return read_plainly(plain_path(), plain_); }); })
                   : 0.0;
  }

  Result<double> save(int64_t step) {
    return timed([&]() -> Result<void> {
      head_.counters.step = step;
      const auto saved = at_once_->save(head_, boxes_);
      return saved ? Result<void>() : fail(saved.error());
    });
  }

  Result<double> copy() {
    return timed([&]() -> Result<void> {
      std::byte* to = copy_.data();
      for (const checkpoint::StateBox& box : boxes_) {
        std::memcpy(to, box.bytes.data(), box.bytes.size());
        to += box.bytes.size();
      }
      return {};
    });
  }

  Result<double> save_in_background(int64_t step) {
    head_.counters.step = step;
    const Result<double> stalled = timed([&]() -> Result<void> {
      const auto begun = background_->save(head_, boxes_);
      return begun ? Result<void>() : fail(begun.error());
    });
    const auto saved = background_->finish();
    return saved ? stalled : fail(saved.error());
  }

  Result<double> load(int64_t step) {
    Result<void> forgot = leads() ? forget(folder_) : Result<void>();
    if (forgot = forgot.and_then([&] { return meet(); }); !forgot) {
      return fail(forgot.error());
    }
    return timed([&]() -> Result<void> {
      auto saved = checkpoint::Checkpoint::open(checkpoint::step_path(folder_ + "/at_once", step));
      if (!saved) {
        return fail(saved.error());
      }
      if (Result<void> read = trainer_.load(**saved, /*states=*/true); !read) {
        return read;
      }
      return trainer_.parameters().gather();
    });
  }

  /// So that the next round finds as much room as this one did.
  Result<void> clear(int64_t step) {
    if (!leads()) {
      return {};
    }
    return checkpoint::purge(folder_ + "/at_once", step).and_then([&] {
      return checkpoint::purge(folder_ + "/background", step + 1);
    });
  }

  collective::World& world_;
  loop::Trainer& trainer_;
  const std::string folder_;
  checkpoint::Manifest head_;
  Boxes boxes_;
  std::vector<std::byte> copy_;
  std::vector<std::byte> plain_;  // rank 0's
  size_t total_ = 0;
  std::unique_ptr<checkpoint::Saver> at_once_;
  std::unique_ptr<checkpoint::Saver> background_;
};

class TimedCheckpoints final : public loop::RankWork {
 public:
  TimedCheckpoints(const config::RunConfig& config, int64_t rank, std::ostream& out)
      : config_(config), rank_(rank), out_(out) {}

  ~TimedCheckpoints() override {
    rounds_.reset();
    std::error_code code;
    if (rank_ == 0) {
      std::filesystem::remove_all(folder(), code);
    }
  }

  Result<void> run(collective::World& world, const data::Sources& sources) override {
    auto trainer = loop::Trainer::create(
        world, {.config = config_, .training = sources.training, .validation = sources.validation});
    if (!trainer) {
      return fail(trainer.error());
    }
    trainer_ = std::move(*trainer);
    if (const auto stepped = trainer_->step(); !stepped) {  // states are there from the first step
      return fail(stepped.error());
    }
    rounds_ = std::make_unique<Rounds>(world, *trainer_, folder());
    if (Result<void> ready = rounds_->prepare(config_); !ready) {
      return ready;
    }
    return time_rounds(world);
  }

 private:
  std::string folder() const { return config_.job.dump_folder + "/bench_checkpoint"; }

  Result<void> time_rounds(collective::World& world) {
    CheckpointTimes times;
    times.description = config_.model.flavor;
    times.ranks = world.size();
    times.mesh = value_or_throw(mesh::Mesh::create(trainer_->facts().axes)).to_string();
    times.mib = static_cast<double>(rounds_->total()) / (1024.0 * 1024.0);
    for (int64_t round = 0; round < config_.training.steps; ++round) {
      Result<CheckpointRound> timed = rounds_->run(round);
      if (!timed) {
        return fail(timed.error());
      }
      times.rounds.push_back(*timed);
    }
    if (rank_ == 0) {
      out_ << to_json(times) << std::endl;
    }
    return {};
  }

  const config::RunConfig& config_;
  const int64_t rank_;
  std::ostream& out_;
  std::unique_ptr<loop::Trainer> trainer_;
  std::unique_ptr<Rounds> rounds_;
};

}  // namespace

int checkpoint(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err) {
  const auto rank = [&out](const config::RunConfig& config, const launch::RankIdentity& who) {
    return launch::finished(
        loop::with_world(config, who, std::make_unique<TimedCheckpoints>(config, who.rank, out)));
  };
  return train::train(
      command_line, rank, err, err, {.words = 3, .name = "brigade bench checkpoint"});
}

}  // namespace brigade::bench
