// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/sources.h"

#include <utility>

#include "parallel/base/text.h"
#include "trainer/data/byte_file.h"
#include "trainer/data/synthetic_bytes.h"

namespace brigade::data {
namespace {

using Source = std::shared_ptr<const TokenSource>;

Result<Source> open_file(ByteFileOptions options) {
  Result<ByteFile> file = ByteFile::open(std::move(options));
  if (!file) {
    return fail(file.error());
  }
  return std::make_shared<ByteFile>(std::move(*file));
}

uint64_t seed_of(const config::RunConfig& config) {
  return static_cast<uint64_t>(config.debug.seed);
}

/// The part of the training file that is kept for validation.
double held_back(const config::RunConfig& config) {
  const bool needed = config.validation.enable && !config.validation.dataset_path;
  return needed ? config.validation.fraction : 0.0;
}

Result<Source> open_training(const config::RunConfig& config) {
  if (config.training.dataset_path) {
    return open_file({.path = *config.training.dataset_path,
                      .seq_len = config.training.seq_len,
                      .seed = seed_of(config),
                      .part = Part::kTraining,
                      .validation_fraction = held_back(config)});
  }
  if (config.training.dataset == "synthetic") {
    if (config.training.seq_len >= SyntheticBytes::kBytes - 1) {
      return fail(ErrorCode::kUsage,
                  concat("training.dataset = \"synthetic\" has ",
                         SyntheticBytes::kBytes,
                         " bytes; training.seq_len may be at most ",
                         SyntheticBytes::kBytes - 2,
                         ", found ",
                         config.training.seq_len));
    }
    return std::make_shared<SyntheticBytes>(config.training.seq_len, seed_of(config));
  }
  return fail(
      ErrorCode::kUsage,
      concat("training.dataset = \"",
             config.training.dataset,
             "\" is no file; set training.dataset_path=FILE, or training.dataset=\"synthetic\""));
}

Result<Source> open_validation(const config::RunConfig& config) {
  if (!config.validation.enable) {
    return Source();
  }
  if (config.validation.dataset_path) {
    return open_file({.path = *config.validation.dataset_path,
                      .seq_len = config.training.seq_len,
                      .seed = seed_of(config),
                      .part = Part::kValidation,
                      .validation_fraction = 1.0});
  }
  if (config.training.dataset_path) {
    return open_file({.path = *config.training.dataset_path,
                      .seq_len = config.training.seq_len,
                      .seed = seed_of(config),
                      .part = Part::kValidation,
                      .validation_fraction = config.validation.fraction});
  }
  return fail(
      ErrorCode::kUsage,
      "validation.enable = true needs a text: set validation.dataset_path=FILE, or train on a file "
      "(training.dataset_path) whose last validation.fraction is kept for it");
}

}  // namespace

std::vector<std::string> Sources::descriptions() const {
  std::vector<std::string> lines = {training->description()};
  if (validation != nullptr) {
    lines.push_back(validation->description());
  }
  return lines;
}

Result<Sources> open_sources(const config::RunConfig& config) {
  Result<Source> training = open_training(config);
  if (!training) {
    return fail(training.error());
  }
  Result<Source> validation = open_validation(config);
  if (!validation) {
    return fail(validation.error());
  }
  if (Result<void> fits = check_vocabulary(**training, config.model); !fits) {
    return fail(fits.error());
  }
  return Sources{std::move(*training), std::move(*validation)};
}

Result<void> check_vocabulary(const TokenSource& source, const config::Model& model) {
  if (source.vocabulary_size() <= model.vocab_size) {
    return {};
  }
  return fail(ErrorCode::kData,
              concat("the data has ids below ",
                     source.vocabulary_size(),
                     " but model.vocab_size = ",
                     model.vocab_size,
                     "; set model.vocab_size=",
                     source.vocabulary_size()));
}

}  // namespace brigade::data
