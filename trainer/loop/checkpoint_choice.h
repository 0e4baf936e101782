// SPDX-License-Identifier: Apache-2.0
/// Which checkpoints a run may begin from, the best first: one process looks, the others are told.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/config/run_config.h"

namespace brigade::loop {

/// {job.dump_folder}/{checkpoint.folder}.
std::string checkpoint_folder(const config::RunConfig& config);

struct Candidate {
  int64_t step = 0;
  std::string path;

  bool operator==(const Candidate&) const = default;
};

struct Choice {
  std::vector<Candidate> candidates;  ///< empty: the run begins at nothing
  bool asked_for = false;      ///< by load_step or initial_load_path: no other will do in its place
  bool weights_alone = false;  ///< of another run: nothing else is taken from it
  bool in_hf = false;          ///< the candidate is Hugging Face's folder
  std::string run;             ///< that goes on, or a new one
  std::vector<std::string> remarks;

  bool operator==(const Choice&) const = default;
};

/// Looks. Complete checkpoints of the run that wrote there last come first; only where it has none,
/// those of others.
/// Errors: kIo; kUsage when load_step has no checkpoint, naming those there are.
Result<Choice> look_for_checkpoints(const config::RunConfig& config);

/// As a message to other ranks.
std::string to_text(const Choice& choice);
Choice choice_of(std::string_view text);

}  // namespace brigade::loop
