// SPDX-License-Identifier: Apache-2.0
/// What a step moves over dp_shard, at every ZeRO stage: the ledger has the formulas' bytes, each
/// rank sends those of its own boxes, and the transport counted the same.
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/decoder/units.h"
#include "parallel/base/text.h"
#include "parallel/schedule/units.h"
#include "parallel/tensor/program.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"
#include "trainer/config/load.h"
#include "trainer/loop/model_shape.h"

namespace brigade::end_to_end {
namespace {

constexpr int64_t kElement = 4;  // bytes
constexpr int64_t kGlobalBatch = 12;

/// Elements of one rank's used boxes and of its own rows in them.
struct Elements {
  int64_t used = 0;
  int64_t own = 0;

  Elements& operator+=(const Elements& other) {
    used += other.used;
    own += other.own;
    return *this;
  }
};

/// Of one rank, in its second step: the first one compares ledgers over the same groups.
struct RankBytes {
  std::map<std::string, Elements> units;
  std::vector<tensor::LedgerEntry> entries;  ///< casts of units over dp_shard
  int64_t entries_of_replicas = 0;           ///< bytes of those over dp_replicate
  int64_t sent = 0;                          ///< over dp_shard, by the transport's count
  int64_t sent_to_replicas = 0;
  int64_t data_group = 0;  ///< equal on ranks of one dp_shard group

  Elements all() const {
    Elements sum;
    for (const auto& [unit, elements] : units) {
      sum += elements;
    }
    return sum;
  }
  int64_t ledger_bytes() const {
    int64_t sum = 0;
    for (const tensor::LedgerEntry& entry : entries) {
      sum += entry.group_bytes;
    }
    return sum;
  }
};

bool is_over(const tensor::LedgerEntry& entry, const char* axis) {
  return entry.source == "unit" && entry.axes == mesh::AxisNames{axis};
}

RankBytes note(loop::Trainer& trainer, int64_t world_rank) {
  RankBytes bytes;
  const tensor::Program& program = trainer.program();
  const int64_t member = program.mesh().coordinate(program.rank(), "dp_shard");
  for (const sharding::ParameterFacts& facts : trainer.parameters().facts()) {
    const zero::Placement& placement = trainer.parameters().placement(facts.name);
    const sharding::Box box = placement.used.box(facts.shape, program.rank());
    const int64_t rows = box.shape().front();
    const sharding::Interval own = placement.shard_rows(facts.shape, program.rank(), member);
    bytes.units[facts.unit] +=
        {box.element_count(), box.element_count() / rows * (own.end - own.begin)};
  }
  for (const tensor::LedgerEntry& entry : program.ledger().entries()) {
    if (is_over(entry, "dp_shard")) {
      bytes.entries.push_back(entry);
    }
    bytes.entries_of_replicas += is_over(entry, "dp_replicate") ? entry.group_bytes : 0;
  }
  const int64_t ranks = program.mesh().size();
  const std::vector<int64_t> group =
      program.mesh().group(program.rank(), mesh::AxisNames{"dp_shard"});
  bytes.data_group = (world_rank / ranks) * ranks + group.front();
  return bytes;
}

/// Bytes of every rank of the world.
std::vector<RankBytes> measure(const Degrees& degrees, const Settings& settings) {
  std::vector<RankBytes> ranks(static_cast<size_t>(degrees.ranks()));
  std::mutex mutex;
  Trial trial = trial_of(degrees, settings);
  trial.after_step = [&](loop::Trainer& trainer, collective::World& world) {
    tensor::Program& program = trainer.program();
    const int64_t sent = program.group({"dp_shard"}).bytes_sent();
    const int64_t to_replicas = program.group({"dp_replicate"}).bytes_sent();
    const std::lock_guard<std::mutex> lock(mutex);
    RankBytes& rank = ranks[static_cast<size_t>(world.rank())];
    const RankBytes before = rank;
    rank = note(trainer, world.rank());
    rank.sent = sent - before.sent;
    rank.sent_to_replicas = to_replicas - before.sent_to_replicas;
  };
  train(trial, random_tokens(96, 16, 100), 2);
  return ranks;
}

Settings step_of(int stage, int64_t microbatch, const std::string& reduction) {
  return {concat("parallelism.zero_stage=", stage),
          concat("training.global_batch_size=", kGlobalBatch),
          concat("training.microbatch_size=", microbatch),
          concat("parallelism.reduce_gradients=", reduction)};
}

const Settings kNever = {"parallelism.fsdp_reshard_after_forward=never"};

class ZeroBytes : public ::testing::TestWithParam<int64_t> {};

TEST_P(ZeroBytes, MoveTwiceTheModelForEachOtherRankAndThriceAtMostAtStageThree) {
  const int64_t ranks = GetParam();
  const Degrees mesh{.shard = ranks};
  for (const int stage : {0, 1, 2, 3}) {
    for (const bool keeps : {false, true}) {
      SCOPED_TRACE(concat("stage ", stage, keeps ? ", never freed" : ""));
      const std::vector<RankBytes> found = measure(
          mesh, step_of(stage, kGlobalBatch / ranks, "step") + (keeps ? kNever : Settings{}));
      const int64_t model = found[0].all().used;
      const int64_t unit = (ranks - 1) * model * kElement;
      if (stage < 3 || keeps) {
        EXPECT_EQ(found[0].ledger_bytes(), 2 * unit);
      } else {
        // The head and the block before it are still whole when their backwards come.
        EXPECT_LE(found[0].ledger_bytes(), 3 * unit);
        EXPECT_GT(found[0].ledger_bytes(), 2 * unit);
      }
    }
  }
}

TEST_P(ZeroBytes, MoveThriceTheModelAtStageThreeWithoutPrefetch) {
  const int64_t ranks = GetParam();
  const std::vector<RankBytes> found =
      measure({.shard = ranks},
              step_of(3, kGlobalBatch / ranks, "step") + Settings{"parallelism.fsdp_prefetch=0"});
  const int64_t head = found[0].units.at("head").used;
  EXPECT_EQ(found[0].ledger_bytes(), (ranks - 1) * (3 * found[0].all().used - head) * kElement)
      << "the head alone is used twice in a row";
}

INSTANTIATE_TEST_SUITE_P(EndToEnd,
                         ZeroBytes,
                         ::testing::Values(2, 3, 4),
                         [](const ::testing::TestParamInfo<int64_t>& test) {
                           return concat("dp", test.param);
                         });

/// What one rank's list asks for.
struct Asked {
  int64_t group = 0;  ///< elements that the whole group moves
  int64_t own = 0;    ///< of them, those that this rank sends
};

class Lists {
 public:
  Lists(const Degrees& degrees, const Settings& settings)
      : ranks_(degrees.shard),
        config_(value_or_throw(config::load_text(
            testing::kSmallRecipe, "recipe", trial_of(degrees, settings).settings))),
        facts_(value_or_throw(config::resolve(config_, degrees.ranks()))),
        plan_(loop::unit_plan(config_, facts_)) {
    const schedule::Kind kind =
        facts_.pp == 1
            ? schedule::Kind::kOneForwardOneBackward
            : value_or_throw(schedule::parse_kind(config_.parallelism.pipeline_parallel_schedule));
    const schedule::Schedule stages = value_or_throw(schedule::generate(
        {.kind = kind, .ranks = facts_.pp, .microbatches = facts_.microbatches}));
    units_ = schedule::lower_units(stages, plan_);
  }

  Asked of(int64_t stage, const RankBytes& rank) const {
    Asked asked;
    const std::vector<std::string> names =
        decoder::unit_names(loop::model_of(config_)->layers(), stage, facts_.pp);
    for (const schedule::Action& action : units_.per_rank[static_cast<size_t>(stage)]) {
      const bool gathers = action.kind == schedule::ActionKind::kUnshard;
      if (gathers || action.kind == schedule::ActionKind::kReduceUnit) {
        add(asked, gathers, rank.units.at(names.at(static_cast<size_t>(action.unit))));
      }
    }
    if (facts_.zero_stage <= 2) {  // reduced gradients, or updated weights
      add(asked, true, rank.all());
    }
    return asked;
  }

 private:
  void add(Asked& asked, bool gathers, const Elements& elements) const {
    asked.group += (ranks_ - 1) * elements.used;
    asked.own += gathers ? (ranks_ - 1) * elements.own : elements.used - elements.own;
  }

  int64_t ranks_;
  config::RunConfig config_;
  config::RunFacts facts_;
  schedule::UnitPlan plan_;
  schedule::Schedule units_;
};

void expect_what_the_lists_ask(const Degrees& degrees, const Settings& settings) {
  const Lists lists(degrees, settings);
  const std::vector<RankBytes> found = measure(degrees, settings);
  const int64_t ranks_of_stage = degrees.data_ranks() * degrees.tp;
  std::map<int64_t, int64_t> sent_by_group;
  for (size_t rank = 0; rank < found.size(); ++rank) {
    const Asked asked = lists.of(static_cast<int64_t>(rank) / ranks_of_stage, found[rank]);
    EXPECT_EQ(found[rank].ledger_bytes(), asked.group * kElement) << "rank " << rank;
    EXPECT_EQ(found[rank].sent, asked.own * kElement) << "rank " << rank;
    sent_by_group[found[rank].data_group] += found[rank].sent;
    EXPECT_EQ(found[rank].entries_of_replicas,
              2 * (degrees.replicate - 1) * found[rank].all().own * kElement);
    EXPECT_EQ(found[rank].sent_to_replicas * degrees.replicate, found[rank].entries_of_replicas);
  }
  for (const RankBytes& rank : found) {
    EXPECT_EQ(sent_by_group.at(rank.data_group), rank.ledger_bytes())
        << "the transport counted other bytes than the ledger";
  }
}

class ZeroLists : public ::testing::TestWithParam<Degrees> {};

TEST_P(ZeroLists, MoveWhatTheActionsOfThreeMicrobatchesSay) {
  const Degrees& degrees = GetParam();
  const int64_t microbatch = kGlobalBatch / degrees.data_ranks() / 3;
  for (const int stage : {0, 1, 2, 3}) {
    for (const char* reduction : {"step", "microbatch"}) {
      if (stage < 2 && reduction == std::string("microbatch")) {
        continue;
      }
      const Settings settings = step_of(stage, microbatch, reduction);
      SCOPED_TRACE(concat("stage ", stage, ", reduced each ", reduction));
      expect_what_the_lists_ask(degrees, settings);
      if (stage == 3) {
        expect_what_the_lists_ask(degrees, settings + kNever);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EndToEnd,
                         ZeroLists,
                         ::testing::Values(Degrees{.shard = 2},
                                           Degrees{.shard = 4},
                                           Degrees{.shard = 2, .tp = 2},
                                           Degrees{.shard = 2, .pp = 2},
                                           Degrees{.replicate = 2, .shard = 2}),
                         [](const ::testing::TestParamInfo<Degrees>& test) {
                           return test.param.name();
                         });

/// A norm's gain of 32 over 3 ranks: 10, 11 and 11 elements; nothing is padded.
TEST(ZeroListsOfSizesThatDoNotDivide, MoveNoPadding) {
  for (const int stage : {0, 1, 2, 3}) {
    SCOPED_TRACE(stage);
    expect_what_the_lists_ask({.shard = 3},
                              step_of(stage, 2, "step") + Settings{"model.vocab_size=97"});
  }
}

TEST(ZeroListsOfATiedHead, ReduceEachUseAndGatherTheTableOncePerUse) {
  const Settings tied = {"model.tie_embeddings=true"};
  const std::vector<RankBytes> plain = measure({.shard = 2}, step_of(2, 6, "step"));
  const std::vector<RankBytes> found = measure({.shard = 2}, step_of(2, 6, "step") + tied);
  const int64_t table = int64_t{96} * 32 * kElement;
  EXPECT_EQ(found[0].ledger_bytes(), plain[0].ledger_bytes() - table)
      << "a gradient for each use, one table to gather";
  const std::vector<RankBytes> sharded = measure({.shard = 2}, step_of(3, 6, "step") + tied);
  const std::vector<RankBytes> apart = measure({.shard = 2}, step_of(3, 6, "step"));
  EXPECT_EQ(sharded[0].ledger_bytes(), apart[0].ledger_bytes())
      << "at stage 3 each use is gathered with its unit";
}

}  // namespace
}  // namespace brigade::end_to_end
