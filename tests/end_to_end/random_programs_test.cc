// SPDX-License-Identifier: Apache-2.0
/// Law 1 on sizes that nobody chose: random models, masks, batches and meshes. Small and odd sizes
/// leave ranks with a row more than others, or with none.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/philox.h"
#include "parallel/base/text.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"
#include "tests/end_to_end/sample_list.h"

namespace brigade::end_to_end {
namespace {

constexpr uint64_t kPrograms = 60;
constexpr int64_t kSteps = 3;

/// Choices that depend on the program's number alone.
class Choices {
 public:
  explicit Choices(uint64_t program) : program_(program) {}

  /// Of [low, high].
  int64_t between(int64_t low, int64_t high) {
    const auto value = philox(program_, next_++, 0, random_stream("test", "programs"))[0];
    return low + static_cast<int64_t>(value) % (high - low + 1);
  }
  bool coin() { return between(0, 1) == 1; }

 private:
  uint64_t program_;
  uint64_t next_ = 0;
};

struct Program {
  Degrees degrees;
  Settings model;
  int64_t vocabulary = 0;
  int64_t sequence = 0;
  int64_t microbatch = 0;
  int64_t global = 0;
};

Degrees at_most_eight_ranks(Choices& choices) {
  Degrees degrees;
  do {
    degrees = {.replicate = choices.between(1, 2),
               .shard = choices.between(1, 4),
               .tp = choices.between(1, 4),
               .pp = choices.between(1, 4)};
  } while (degrees.ranks() > 8 || degrees.ranks() == 1);
  return degrees;
}

Program program_of(Choices& choices) {
  Program program;
  program.degrees = at_most_eight_ranks(choices);
  const int64_t tp = program.degrees.tp;
  const int64_t kv_heads = tp * choices.between(1, 2);
  const int64_t heads = kv_heads * choices.between(1, 3);
  const int64_t head_size = 2 * choices.between(1, 4);
  program.vocabulary = choices.between(2, 50);
  program.sequence = choices.between(2, 12);
  program.microbatch = choices.between(1, 3);
  program.global = program.microbatch * program.degrees.data_ranks() * choices.between(1, 5);
  program.model = {concat("model.dim=", heads * head_size),
                   concat("model.n_heads=", heads),
                   concat("model.n_kv_heads=", kv_heads),
                   concat("model.n_layers=", program.degrees.pp + choices.between(0, 2)),
                   concat("model.ffn_dim=", choices.between(1, 40)),
                   concat("model.vocab_size=", program.vocabulary),
                   concat("model.tie_embeddings=", choices.coin() ? "true" : "false"),
                   concat("training.seq_len=", program.sequence),
                   concat("training.global_batch_size=", program.global)};
  return program;
}

/// Of all lengths from no trained token on; one sample of each batch at least is trained.
std::shared_ptr<const data::TokenSource> masked_samples(const Program& program, Choices& choices) {
  std::vector<Sample> samples =
      samples_of(*random_tokens(program.vocabulary, program.sequence, 200), 0, 200);
  for (size_t i = 0; i < samples.size(); ++i) {
    const bool whole = static_cast<int64_t>(i) % program.global == 0;
    samples[i] =
        samples[i].trained(whole ? program.sequence : choices.between(0, program.sequence));
  }
  return sample_list(program.vocabulary, std::move(samples));
}

TEST(RandomPrograms, TrainTheCurveOfOneRank) {
  for (uint64_t number = 0; number < kPrograms; ++number) {
    Choices choices(number);
    const Program program = program_of(choices);
    const auto source = masked_samples(program, choices);
    const Settings whole = {concat("training.microbatch_size=", program.global)};
    const Settings parts = {concat("training.microbatch_size=", program.microbatch)};
    const std::vector<Way> all = ways(program.degrees);
    const Way& way =
        all[static_cast<size_t>(choices.between(0, static_cast<int64_t>(all.size()) - 1))];
    const char* sequence = choices.coin() ? "parallelism.sequence_parallel=true"
                                          : "parallelism.sequence_parallel=false";
    SCOPED_TRACE(concat("program ",
                        number,
                        ": ",
                        program.degrees.name(),
                        ' ',
                        way.name,
                        ' ',
                        join(program.model),
                        ' ',
                        sequence,
                        ", microbatch ",
                        program.microbatch));
    const Outcome one = train(trial_of({}, program.model + whole), source, kSteps);
    const Outcome found =
        train(trial_of(program.degrees, program.model + parts + way.settings + Settings{sequence}),
              source,
              kSteps);
    expect_same_curve(found, one);
    if (HasFailure()) {
      return;
    }
  }
}

}  // namespace
}  // namespace brigade::end_to_end
