// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/agreement.h"

#include <cstdint>
#include <map>
#include <span>

#include <torch/version.h>

#include "parallel/base/philox.h"
#include "parallel/base/text.h"
#include "parallel/collective/gather_texts.h"
#include "parallel/kernels/dispatch.h"
#include "trainer/config/print.h"
#include "trainer/loop/model_shape.h"

namespace brigade::loop {
namespace {

constexpr size_t kShownCharacters = 200;

Result<std::vector<int64_t>> reduced(collective::Communicator& world,
                                     std::vector<int64_t> hashes,
                                     collective::ReduceOp op) {
  collective::Work work =
      world.all_reduce({collective::bytes_of(std::span<int64_t>(hashes))}, DType::kInt64, op);
  if (Result<void> done = work.wait(); !done) {
    return fail(done.error());
  }
  return hashes;
}

}  // namespace

Result<std::string> data_fingerprint(const data::TokenSource& source) {
  std::string text = concat(source.sample_count(), " samples of ", source.seq_len());
  std::vector<int64_t> tokens(static_cast<size_t>(source.seq_len()));
  std::vector<int64_t> targets(tokens.size());
  for (const int64_t sample : {int64_t{0}, source.sample_count() - 1}) {
    if (Result<void> read = source.read(0, sample, tokens, targets); !read) {
      return fail(read.error());
    }
    text += concat("; sample ", sample, " ", random_stream("tokens", join(tokens)));
  }
  return text;
}

Result<std::optional<Error>> first_error(collective::Communicator& world,
                                         const Result<void>& mine) {
  const int64_t rank = world.rank();
  const Result<std::vector<int64_t>> least =
      reduced(world, {mine ? int64_t{world.size()} : rank}, collective::ReduceOp::kMin);
  if (!least) {
    return fail(least.error());
  }
  const auto failed = static_cast<int>((*least)[0]);
  if (failed == world.size()) {
    return std::nullopt;
  }
  Error error = mine ? Error() : mine.error();
  const Result<std::string> text = collective::broadcast_text(world, error.text, failed);
  if (!text) {
    return fail(text.error());
  }
  const Result<std::vector<int64_t>> code =
      reduced(world,
              {rank == failed ? static_cast<int64_t>(error.code) : int64_t{-1}},
              collective::ReduceOp::kMax);
  if (!code) {
    return fail(code.error());
  }
  const auto origin = static_cast<int>(world.members()[static_cast<size_t>(failed)]);
  return Error{static_cast<ErrorCode>((*code)[0]), *text, origin};
}

Result<std::vector<SharedFact>> shared_facts(const config::RunConfig& config,
                                             const data::TokenSource& training) {
  Result<std::string> data = data_fingerprint(training);
  if (!data) {
    return fail(data.error());
  }
  config::RunConfig recipe = config;
  recipe.job = {};
  return std::vector<SharedFact>{{"recipe", config::to_toml(recipe)},
                                 {"training data", concat(training.description(), "; ", *data)},
                                 {"instruction set", std::string(kernels::instruction_set())},
                                 {"libtorch version", TORCH_VERSION}};
}

Result<void> agree_on(collective::Communicator& world, const std::vector<SharedFact>& facts) {
  std::vector<int64_t> hashes;
  for (const SharedFact& fact : facts) {
    hashes.push_back(static_cast<int64_t>(random_stream(fact.what, fact.value)));
  }
  const Result<std::vector<int64_t>> least = reduced(world, hashes, collective::ReduceOp::kMin);
  if (!least) {
    return fail(least.error());
  }
  const Result<std::vector<int64_t>> most = reduced(world, hashes, collective::ReduceOp::kMax);
  if (!most) {
    return fail(most.error());
  }
  for (size_t i = 0; i < facts.size(); ++i) {
    if ((*least)[i] != (*most)[i]) {
      return fail(ErrorCode::kMismatch,
                  concat("the ranks do not have the same ",
                         facts[i].what,
                         "; start all of them with one recipe, one text and one build. Rank ",
                         world.rank(),
                         " has: ",
                         facts[i].value.substr(0, kShownCharacters)));
    }
  }
  return {};
}

Result<void> check_streams(const config::RunConfig& config, const config::RunFacts& facts) {
  std::map<uint64_t, std::string> known;
  const auto add = [&known](const char* purpose, const std::string& name) -> Result<void> {
    const auto [at, is_new] =
        known.emplace(random_stream(purpose, name), concat(purpose, " of ", name));
    if (is_new) {
      return {};
    }
    return fail(ErrorCode::kUsage,
                concat("two uses of randomness share a stream, rename one: ",
                       at->second,
                       " and ",
                       purpose,
                       " of ",
                       name));
  };
  Result<void> distinct = add("data order", "");
  for (int64_t stage = 0; stage < facts.pp && distinct; ++stage) {
    for (const sharding::ParameterFacts& parameter : parameters_of(config, stage, facts.pp)) {
      if (distinct && parameter.tied_to.empty()) {
        distinct = add("init", parameter.name);
      }
    }
  }
  for (const std::string& name : model_of(config)->dropout_names()) {
    if (distinct) {
      distinct = add("dropout", name);
    }
  }
  return distinct;
}

}  // namespace brigade::loop
