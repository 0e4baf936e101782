// SPDX-License-Identifier: Apache-2.0
/// The transformers library as judge: what it saved computes the same here, and what is saved here
/// computes the same there. Built only where BRIGADE_HF_PYTHON has the library.
#include <cstdlib>
#include <mutex>
#include <ostream>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"
#include "tests/end_to_end/hugging_face_io.h"
#include "tests/support/rank_threads.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/hugging_face_folder.h"
#include "trainer/checkpoint/safetensors.h"

namespace brigade::end_to_end {
namespace {

constexpr int64_t kSequence = 5;
constexpr double kTolerance = 1e-5;

struct Family {
  const char* name;
  Degrees degrees;
};

void PrintTo(const Family& family, std::ostream* out) {
  *out << family.name << ' ' << family.degrees.name();
}

at::Tensor read_tensor(const std::string& path, const std::string& name, at::ScalarType type) {
  const auto file = value_or_throw(checkpoint::SafetensorsFile::open(path));
  const checkpoint::TensorView view = value_or_throw(file.tensor(name));
  const at::Tensor out =
      at::empty(std::vector<int64_t>(view.shape.begin(), view.shape.end()), type);
  std::copy(view.bytes.begin(), view.bytes.end(), tensor::bytes_of(out).begin());
  return out;
}

at::Tensor prompts_of(const std::string& folder) {
  return read_tensor(folder + "/prompts.safetensors", "prompts", at::kLong);
}

at::Tensor answers_of(const std::string& folder) {
  return read_tensor(folder + "/answers.safetensors", "answers", at::kDouble);
}

double difference(const at::Tensor& left, const at::Tensor& right) {
  return (left - right).abs().max().item<double>();
}

class Transformers : public ::testing::TestWithParam<Family> {
 protected:
  /// Runs the script; fails the test if that does not end well.
  void python(const std::string& arguments) {
    const std::string command = concat("'",
                                       BRIGADE_HF_PYTHON,
                                       "' '",
                                       BRIGADE_HF_SCRIPT,
                                       "' ",
                                       arguments,
                                       " 2> '",
                                       folder_ / "log",
                                       "'");
    ASSERT_EQ(std::system(command.c_str()), 0)  // NOLINT(concurrency-mt-unsafe)
        << contents(folder_ / "log");
  }

  /// What ranks make of the model, before and after a step; its parameters after it.
  struct Found {
    at::Tensor before;
    at::Tensor after;
    std::map<std::string, at::Tensor> parameters;
  };

  Found run(const std::string& model) {
    Found found;
    std::mutex mutex;
    const Degrees& degrees = GetParam().degrees;
    const Settings settings = trial_of(degrees).settings + Settings{"training.global_batch_size=1"};
    testing::run_ranks(degrees.ranks(), [&](collective::World& world) {
      Asked asked(world, model, kSequence, settings);
      load_hugging_face(asked.trainer(), model);
      const at::Tensor before = asked.log_probabilities(prompts_of(model));
      value_or_throw(asked.trainer().step());
      const at::Tensor after = asked.log_probabilities(prompts_of(model));
      for (const sharding::ParameterFacts& facts : asked.trainer().parameters().facts()) {
        if (facts.tied_to.empty()) {
          const at::Tensor whole = asked.trainer().parameters().collect(facts.name).clone();
          const std::lock_guard<std::mutex> lock(mutex);
          found.parameters[facts.name] = whole;
        }
      }
      const std::lock_guard<std::mutex> lock(mutex);
      found.before = before;
      found.after = after;
    });
    return found;
  }

  TemporaryFolder folder_;
};

TEST_P(Transformers, R106_R107_R108_ComputesTheSameBeforeAndAfterAStepHere) {
  const std::string theirs = folder_ / "theirs";
  ASSERT_NO_FATAL_FAILURE(python(concat("make ", GetParam().name, " '", theirs, "'")));
  const Found found = run(theirs);
  EXPECT_LE(difference(found.before, answers_of(theirs)), kTolerance);
  EXPECT_GE(difference(found.after, found.before), 100 * kTolerance);

  const std::string ours = folder_ / "ours";
  const auto source = value_or_throw(checkpoint::HuggingFaceFolder::open(theirs));
  write_hugging_face(found.parameters, source->config(), ours);
  write_file(ours + "/prompts.safetensors", contents(theirs + "/prompts.safetensors"));
  ASSERT_NO_FATAL_FAILURE(python(concat("ask '", ours, "'")));
  EXPECT_LE(difference(answers_of(ours), found.after), kTolerance);
}

std::string name_of(const ::testing::TestParamInfo<Family>& test) {
  return std::string(test.param.name) + "_" + test.param.degrees.name();
}

INSTANTIATE_TEST_SUITE_P(Families,
                         Transformers,
                         ::testing::Values(Family{"llama4_untied", {}},
                                           Family{"llama4_tied_old", {.tp = 2}},
                                           Family{"llama6_tied", {}},
                                           Family{"llama6_untied_old", {.tp = 2}},
                                           Family{"gpt2", {}},
                                           Family{"gpt2", {.tp = 3}}),
                         name_of);

}  // namespace
}  // namespace brigade::end_to_end
