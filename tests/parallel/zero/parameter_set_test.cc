// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/parameter_set.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/kernels/norm.h"
#include "tests/parallel/zero/data_ranks.h"

namespace brigade::zero {
namespace {

using sharding::ParameterFacts;

/// Runs `body` on every layout and stage.
void for_all(const std::function<void(const Layout&, int stage, tensor::Program&)>& body) {
  for (const Layout& layout : layouts()) {
    for (const int stage : {0, 1, 2, 3}) {
      on_layout(layout, [&](tensor::Program& program) {
        SCOPED_TRACE(concat(layout.to_string(), ", stage ", stage, ", rank ", program.rank()));
        body(layout, stage, program);
      });
    }
  }
}

/// One rank's weights by name after initialize().
std::map<std::string, at::Tensor> weights_on_one_rank() {
  std::map<std::string, at::Tensor> weights;
  on_layout({}, [&](tensor::Program& program) {
    const auto set = make_set(program, 0);
    set->initialize(5);
    for (const ParameterFacts& facts : set->facts()) {
      weights[facts.name] = used_weight(*set, facts.name);
    }
  });
  return weights;
}

/// Sums of squares of all ranks of the program's mesh.
double summed_squares(tensor::Program& program, ParameterSet& set) {
  ExactSum sum;
  EXPECT_EQ(set.add_squares(sum), -1);
  sum.normalize();
  collective::Communicator& all = program.group({"dp_replicate", "dp_shard", "tp"});
  value_or_throw(all.all_reduce({collective::bytes_of(std::span<int64_t>(sum.limbs()))},
                                DType::kInt64,
                                collective::ReduceOp::kSum)
                     .wait());
  return sum.value();
}

TEST(ParameterSet, StartsEqualOnEveryMesh) {
  const auto wanted = weights_on_one_rank();
  for_all([&](const Layout&, int stage, tensor::Program& program) {
    const auto set = make_set(program, stage);
    set->initialize(5);
    unshard_all(*set);
    for (const ParameterFacts& facts : set->facts()) {
      const tensor::ShardedTensor& weight = set->weight(facts.name);
      EXPECT_TRUE(weight.local().requires_grad() && weight.local().is_leaf());
      EXPECT_EQ(weight.type().spec, set->placement(facts.name).used.spec);
      EXPECT_TRUE(
          at::equal(weight.local().detach(), used_box(program, *set, facts, wanted.at(facts.name))))
          << facts.name;
    }
  });
}

TEST(ParameterSet, ReducesToTheBitsOfTheSerialTreeAtEveryStage) {
  constexpr int64_t kEach = 2;
  for_all([](const Layout& layout, int stage, tensor::Program& program) {
    const auto set = make_set(program, stage);
    set->initialize(5);
    run_microbatches(program, *set, kEach);
    value_or_throw(set->reduce());
    for (const Shard& shard : set->shards()) {
      const at::Tensor whole = serial_gradient(*shard.facts, kEach * layout.data_ranks());
      const at::Tensor box = used_box(program, *set, *shard.facts, whole);
      EXPECT_TRUE(at::equal(shard.gradient, updated_rows(program, *set, *shard.facts, stage, box)))
          << shard.facts->name;
      EXPECT_EQ(shard.weight.sizes(), shard.gradient.sizes());
    }
  });
}

TEST(ParameterSet, SumsOverTensorRanksWhatTheyUseByParts) {
  for_all([](const Layout& layout, int stage, tensor::Program& program) {
    const auto set = make_set_with_parts(program, stage);
    set->initialize(5);
    run_microbatches(program, *set, 2);
    value_or_throw(set->reduce());
    double wanted_squares = 0.0;
    for (const Shard& shard : set->shards()) {
      const at::Tensor serial = serial_gradient(*shard.facts, 2 * layout.data_ranks());
      // Each tensor rank brought the whole gradient as its part.
      const double parts = shard.facts->name == "norm" ? static_cast<double>(layout.tp) : 1.0;
      const at::Tensor box = used_box(program, *set, *shard.facts, serial * parts);
      EXPECT_TRUE(at::allclose(
          shard.gradient, updated_rows(program, *set, *shard.facts, stage, box), 1e-6, 1e-5))
          << shard.facts->name;
      wanted_squares += (serial.to(at::kDouble) * parts).square().sum().item<double>();
    }
    EXPECT_NEAR(summed_squares(program, *set), wanted_squares, wanted_squares * 1e-6);
  });
}

TEST(ParameterSet, GathersWhatEachRankUpdated) {
  const auto initial = weights_on_one_rank();
  for_all([&](const Layout& layout, int stage, tensor::Program& program) {
    const auto set = make_set(program, stage);
    set->initialize(5);
    run_microbatches(program, *set, 1);
    value_or_throw(set->reduce());
    for (const Shard& shard : set->shards()) {
      at::Tensor weight = shard.weight;
      weight.sub_(shard.gradient);
    }
    value_or_throw(set->gather());
    for (const ParameterFacts& facts : set->facts()) {
      const at::Tensor wanted =
          initial.at(facts.name) - serial_gradient(facts, layout.data_ranks());
      EXPECT_TRUE(at::equal(used_weight(*set, facts.name), used_box(program, *set, facts, wanted)))
          << facts.name;
      EXPECT_TRUE(at::equal(set->collect(facts.name), wanted)) << facts.name;
    }
  });
}

TEST(ParameterSet, MeasuresEachElementOnce) {
  constexpr int64_t kMicrobatches = 4;
  double serial = 0.0;
  for_all([&](const Layout& layout, int stage, tensor::Program& program) {
    if (kMicrobatches % layout.data_ranks() != 0) {
      return;
    }
    const auto set = make_set(program, stage);
    set->initialize(5);
    run_microbatches(program, *set, kMicrobatches / layout.data_ranks());
    value_or_throw(set->reduce());
    const double squares = summed_squares(program, *set);
    if (layout.data_ranks() * layout.tp == 1) {
      serial = squares;
    }
    if (layout.tp == 1) {
      EXPECT_EQ(squares, serial);
    } else {
      EXPECT_NEAR(squares, serial, serial * 1e-12);
    }
  });
  double wanted = 0.0;
  for (const ParameterFacts& facts : model_facts()) {
    wanted += serial_gradient(facts, kMicrobatches).to(at::kDouble).square().sum().item<double>();
  }
  EXPECT_NEAR(serial, wanted, wanted * 1e-12);
}

TEST(ParameterSet, FindsTheFirstParameterThatIsNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    on_layout({.shard = 2}, [&](tensor::Program& program) {
      const auto set = make_set(program, 1);
      set->initialize(5);
      run_microbatches(program, *set, 1);
      value_or_throw(set->reduce());
      for (const Shard& shard : set->shards()) {
        if (program.rank() == 1 && (shard.facts->name == "down" || shard.facts->name == "scale")) {
          at::Tensor gradient = shard.gradient;
          gradient.fill_(bad);
        }
      }
      ExactSum sum;
      EXPECT_EQ(set->add_squares(sum), program.rank() == 1 ? 3 : -1);
      EXPECT_EQ(sum.nonfinite_count() > 0, program.rank() == 1);
    });
  }
}

TEST(ParameterSet, CountsAnUnusedParameterAsZeros) {
  on_layout({.shard = 2}, [](tensor::Program& program) {
    const auto set = make_set(program, 1);
    set->initialize(5);
    run_microbatches(program, *set, 2, [&](const ParameterFacts& facts) {
      return facts.name != "norm" && (facts.name != "up" || program.rank() == 0);
    });
    value_or_throw(set->reduce());
    for (const Shard& shard : set->shards()) {
      if (shard.facts->name == "norm") {
        EXPECT_TRUE(at::equal(shard.gradient, at::zeros_like(shard.gradient)));
      }
      if (shard.facts->name == "up") {
        const at::Tensor box =
            used_box(program, *set, *shard.facts, serial_gradient(*shard.facts, 2));
        EXPECT_TRUE(at::equal(shard.gradient, updated_rows(program, *set, *shard.facts, 1, box)));
      }
    }
  });
}

TEST(ParameterSet, StartsEachStepWithoutOldGradients) {
  on_layout({.shard = 2}, [](tensor::Program& program) {
    const auto set = make_set(program, 0);
    set->initialize(5);
    run_microbatches(program, *set, 3);
    value_or_throw(set->reduce());
    EXPECT_EQ(set->gradient_bytes(), set->weight_bytes());
    set->clear_gradients();
    EXPECT_EQ(set->gradient_bytes(), 0);
    EXPECT_FALSE(set->shards()[0].gradient.defined());
    run_microbatches(program, *set, 1);
    value_or_throw(set->reduce());
    const ParameterFacts& facts = set->facts()[0];
    EXPECT_TRUE(at::equal(set->shards()[0].gradient, serial_gradient(facts, 2)));
  });
}

TEST(ParameterSet, CountsItsBytes) {
  on_layout({.shard = 2}, [](tensor::Program& program) {
    const auto set = make_set(program, 1);
    set->initialize(5);
    EXPECT_EQ(set->weight_bytes(), (33 + 35 + 5 + 35 + 1) * 4);
    EXPECT_EQ(set->gradient_bytes(), 0);
    run_microbatches(program, *set, 3);
    EXPECT_EQ(set->gradient_bytes(), set->weight_bytes());  // all three, joined
  });
}

TEST(ParameterSet, SumsATiedUseOnItsOwnAndAddsItLast) {
  for_all([](const Layout& layout, int stage, tensor::Program& program) {
    const auto set = make_set(program, stage, tied_facts());
    set->initialize(5);
    EXPECT_TRUE(at::equal(used_weight(*set, "head"), used_weight(*set, "embed")));
    run_microbatches(program, *set, 2);
    value_or_throw(set->reduce());
    set->add_tied();
    const std::vector<Shard> shards = set->shards();
    EXPECT_EQ(shards.size(), model_facts().size());
    const int64_t microbatches = 2 * layout.data_ranks();
    const at::Tensor whole = serial_gradient(set->facts().front(), microbatches) +
                             serial_gradient(set->facts().back(), microbatches);
    const at::Tensor box = used_box(program, *set, set->facts().front(), whole);
    EXPECT_TRUE(at::equal(shards[0].gradient,
                          updated_rows(program, *set, set->facts().front(), stage, box)));
  });
}

TEST(ParameterSet, MeasuresATiedParameterOnce) {
  on_layout({.shard = 2}, [](tensor::Program& program) {
    const auto set = make_set(program, 1, tied_facts());
    set->initialize(5);
    run_microbatches(program, *set, 1);
    value_or_throw(set->reduce());
    set->add_tied();
    double wanted = 0.0;
    for (const ParameterFacts& facts : model_facts()) {
      at::Tensor whole = serial_gradient(facts, 2);
      if (facts.name == "embed") {
        whole = whole + serial_gradient(set->facts().back(), 2);
      }
      wanted += whole.to(at::kDouble).square().sum().item<double>();
    }
    EXPECT_NEAR(summed_squares(program, *set), wanted, wanted * 1e-12);
  });
}

TEST(ParameterSet, KeepsATiedUseWhoseOwnerIsElsewhere) {
  on_layout({.shard = 2}, [](tensor::Program& program) {
    ParameterFacts head = tied_facts().back();
    const auto owner = make_set(program, 1);
    const auto set = make_set(program, 1, {head});
    owner->initialize(5);
    set->initialize(5);
    EXPECT_TRUE(at::equal(set->stored_weight("head"), owner->stored_weight("embed")));
    run_microbatches(program, *set, 1);
    value_or_throw(set->reduce());
    EXPECT_TRUE(set->shards().empty());
    EXPECT_TRUE(at::equal(set->reduced_gradient("head"),
                          updated_rows(program, *set, head, 1, serial_gradient(head, 2))));
    ExactSum sum;
    EXPECT_EQ(set->add_squares(sum), -1);
    EXPECT_EQ(sum.value(), 0.0);
  });
}

TEST(ParameterSet, LoadsWhatIsUpdatedHereAndGathersTheRest) {
  on_layout({.shard = 2, .tp = 2}, [](tensor::Program& program) {
    const auto set = make_set(program, 1, tied_facts());
    int64_t elements = 0;
    value_or_throw(set->load([&](const ParameterFacts& facts,
                                 const sharding::Box& box,
                                 at::Tensor& out) -> Result<void> {
      EXPECT_EQ(out.sizes(), at::IntArrayRef(box.shape()));
      EXPECT_EQ(set->updated_boxes(facts.name)[static_cast<size_t>(program.rank())], box);
      out.copy_(part_of(microbatch_gradient(facts, 0), box));
      elements += out.numel();
      return {};
    }));
    int64_t updated = 0;
    for (const Shard& shard : set->shards()) {
      updated += shard.weight.numel();
    }
    EXPECT_EQ(elements, updated);
    value_or_throw(set->gather());
    for (const ParameterFacts& facts : model_facts()) {
      EXPECT_TRUE(at::equal(set->stored_weight(facts.name),
                            used_box(program, *set, facts, microbatch_gradient(facts, 0))));
    }
  });
}

TEST(ParameterSet, LoadsInTheOrderOfNamesInWhichFilesAreWritten) {
  on_layout({}, [](tensor::Program& program) {
    const auto set = make_set(program, 0);
    std::vector<std::string> names;
    value_or_throw(set->load([&](const ParameterFacts& facts, const sharding::Box&, at::Tensor&) {
      names.push_back(facts.name);
      return Result<void>();
    }));
    EXPECT_EQ(names.size(), model_facts().size());
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
    EXPECT_FALSE(std::is_sorted(model_facts().begin(),
                                model_facts().end(),
                                [](const auto& a, const auto& b) { return a.name < b.name; }));
  });
}

TEST(ParameterSet, PassesOnAFailureToRead) {
  on_layout({}, [](tensor::Program& program) {
    const auto set = make_set(program, 0);
    const Result<void> loaded =
        set->load([](const ParameterFacts& facts, const sharding::Box&, at::Tensor&) {
          return Result<void>(fail(ErrorCode::kData, facts.name));
        });
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error(), (Error{ErrorCode::kData, "down", -1}));
  });
}

TEST(ParameterSet, KeepsBf16WeightsBesideFp32MastersAndGradients) {
  for (const int stage : {0, 1, 2, 3}) {
    on_layout({.shard = 2}, [stage](tensor::Program& program) {
      SCOPED_TRACE(stage);
      Options options = options_of(stage);
      options.dtype = DType::kBFloat16;
      const auto set = value_or_throw(ParameterSet::create(program, model_facts(), options));
      set->initialize(5);
      run_microbatches(program, *set, 2);
      value_or_throw(set->reduce());
      for (const Shard& shard : set->shards()) {
        EXPECT_EQ(shard.weight.scalar_type(), at::kFloat);
        EXPECT_EQ(shard.gradient.scalar_type(), at::kFloat);
        at::Tensor weight = shard.weight;
        weight.sub_(shard.gradient, 0.01);
      }
      value_or_throw(set->gather());
      for (const ParameterFacts& facts : set->facts()) {
        EXPECT_EQ(set->collect(facts.name).scalar_type(), at::kFloat);
        EXPECT_TRUE(
            at::equal(used_weight(*set, facts.name), set->collect(facts.name).to(at::kBFloat16)))
            << facts.name;
      }
    });
  }
}

TEST(ParameterSet, NamesAWeightThatIsNotGathered) {
  on_layout({.shard = 2}, [](tensor::Program& program) {
    const auto set = make_set(program, 3);
    set->initialize(5);
    try {
      (void)set->weight("up");
      ADD_FAILURE() << "expected an error";
    } catch (const Exception& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("parameter up is not gathered now"));
    }
    value_or_throw(set->wait_whole(set->unit("block.0")));
    EXPECT_TRUE(set->weight("up").defined());
    set->reshard(set->unit("block.0"));
    EXPECT_THROW((void)set->weight("up"), Exception);
  });
}

TEST(ParameterSet, KeepsSmallParametersWholeBelowAThreshold) {
  on_layout({.shard = 2}, [](tensor::Program& program) {
    Options options = options_of(3);
    options.replicate_below = 6;  // norm has 5 elements, scale 1
    const auto set = value_or_throw(ParameterSet::create(program, model_facts(), options));
    set->initialize(5);
    EXPECT_TRUE(set->weight("norm").defined());
    EXPECT_THROW((void)set->weight("up"), Exception);
    run_microbatches(program, *set, 1);
    value_or_throw(set->reduce());
    for (const Shard& shard : set->shards()) {
      at::Tensor weight = shard.weight;
      weight.sub_(shard.gradient);
    }
    value_or_throw(set->gather());
    for (const ParameterFacts& facts : set->facts()) {
      EXPECT_TRUE(at::equal(used_weight(*set, facts.name),
                            used_box(program, *set, facts, set->collect(facts.name))));
    }
  });
}

/// R073, R074, R075: parameters of no, one and a few elements over more ranks than rows.
TEST(ParameterSet, R073R074R075HoldAnySizeOverAnyRanks) {
  const auto sized = [](const char* name, sharding::Shape shape) {
    ParameterFacts facts{
        name, shape, std::vector<std::string>(shape.size(), "rows"), {}, true, "", "unit"};
    return facts;
  };
  const std::vector<ParameterFacts> facts = {sized("eight", {8}),
                                             sized("none", {0}),
                                             sized("ten", {10}),
                                             sized("one", {1}),
                                             sized("scalar", {}),
                                             sized("last", {0})};
  for (const int64_t ranks : {1, 2, 3, 4, 6, 7}) {
    for (const int stage : {0, 1, 2, 3}) {
      on_layout({.shard = ranks}, [&](tensor::Program& program) {
        SCOPED_TRACE(concat(ranks, " ranks, stage ", stage));
        const auto set = make_set(program, stage, facts);
        value_or_throw(
            set->load([](const ParameterFacts& row, const sharding::Box& box, at::Tensor& out) {
              const int64_t elements = sharding::element_count(row.shape);
              out.copy_(part_of(at::arange(elements, at::kFloat).view(row.shape), box));
              return Result<void>();
            }));
        value_or_throw(set->gather());
        for (const ParameterFacts& row : facts) {
          const at::Tensor wanted =
              at::arange(sharding::element_count(row.shape), at::kFloat).view(row.shape);
          EXPECT_TRUE(at::equal(set->collect(row.name), wanted)) << row.name;
          EXPECT_TRUE(at::equal(used_weight(*set, row.name), wanted)) << row.name;
        }
        run_microbatches(program, *set, 1);
        value_or_throw(set->reduce());
        for (const Shard& shard : set->shards()) {
          EXPECT_TRUE(at::equal(
              shard.gradient,
              updated_rows(
                  program, *set, *shard.facts, stage, serial_gradient(*shard.facts, ranks))))
              << shard.facts->name;
        }
      });
    }
  }
}

TEST(ParameterSet, ChecksNames) {
  on_layout({}, [](tensor::Program& program) {
    const auto set = make_set(program, 0);
    EXPECT_THROW(set->weight("nobody"), CheckFailure);
    EXPECT_THROW(set->reduced_gradient("embed"), CheckFailure);
  });
}

}  // namespace
}  // namespace brigade::zero
