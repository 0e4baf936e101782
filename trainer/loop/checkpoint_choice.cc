// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/checkpoint_choice.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/folder.h"
#include "trainer/checkpoint/folder_lock.h"

namespace brigade::loop {
namespace {

using checkpoint::step_path;

/// A checkpoint whose manifest was read, and whose files are there.
struct Complete {
  Candidate candidate;
  std::string run;
};

/// The newest first; a remark for each that is not whole.
std::vector<Complete> complete_ones(const std::string& folder,
                                    const std::vector<int64_t>& steps,
                                    std::vector<std::string>& remarks) {
  std::vector<Complete> complete;
  for (const int64_t step : steps) {
    const std::string path = step_path(folder, step);
    const auto opened = checkpoint::Checkpoint::open(path);
    if (opened) {
      complete.push_back({{step, path}, (*opened)->manifest().run});
    } else {
      remarks.push_back(concat("skipped step-", step, ": ", opened.error().text));
    }
  }
  return complete;
}

/// "step-7, step-6".
std::string names_of(const std::vector<int64_t>& steps) {
  std::vector<std::string> names;
  for (const int64_t step : steps) {
    names.push_back(concat("step-", step));
  }
  return names.empty() ? "none" : join(names, ", ");
}

Result<void> add_load_step(Choice& choice,
                           const std::string& folder,
                           const std::vector<int64_t>& steps,
                           int64_t wanted) {
  if (std::find(steps.begin(), steps.end(), wanted) == steps.end()) {
    return fail(ErrorCode::kUsage,
                concat("checkpoint.load_step = ",
                       wanted,
                       ", but there is no ",
                       step_path(folder, wanted),
                       "; there are: ",
                       names_of(steps)));
  }
  choice.asked_for = true;
  choice.candidates.push_back({wanted, step_path(folder, wanted)});
  const auto opened = checkpoint::Checkpoint::open(step_path(folder, wanted));
  if (!opened) {
    return fail(opened.error());
  }
  // Whoever goes back begins another future: that of before is not mixed with it.
  choice.run = wanted == steps.front() ? (*opened)->manifest().run : checkpoint::new_run();
  return {};
}

Result<void> add_newest(Choice& choice,
                        const std::string& folder,
                        const std::vector<int64_t>& steps) {
  const std::vector<Complete> complete = complete_ones(folder, steps, choice.remarks);
  if (complete.empty()) {
    return fail(ErrorCode::kData,
                concat("no checkpoint in ",
                       folder,
                       " can be loaded; move them away to begin anew. ",
                       join(choice.remarks, "; ")));
  }
  std::string run = checkpoint::last_run(folder);
  const auto is_own = [&run](const Complete& one) { return one.run == run; };
  if (std::none_of(complete.begin(), complete.end(), is_own)) {
    run = complete.front().run;
  }
  std::vector<int64_t> foreign;
  for (const Complete& one : complete) {
    if (is_own(one)) {
      choice.candidates.push_back(one.candidate);
    } else {
      foreign.push_back(one.candidate.step);
    }
  }
  if (!foreign.empty()) {
    choice.remarks.push_back(
        concat("checkpoints of other runs in ", folder, " are left alone: ", names_of(foreign)));
  }
  choice.run = run;
  return {};
}

}  // namespace

std::string checkpoint_folder(const config::RunConfig& config) {
  return (std::filesystem::path(config.job.dump_folder) / config.checkpoint.folder).string();
}

Result<Choice> look_for_checkpoints(const config::RunConfig& config) {
  const config::Checkpoint& keys = config.checkpoint;
  Choice choice;
  choice.run = checkpoint::new_run();
  if (!keys.enable) {
    return choice;
  }
  const std::string folder = checkpoint_folder(config);
  const Result<std::vector<int64_t>> steps = checkpoint::list_steps(folder);
  if (!steps) {
    return fail(steps.error());
  }
  if (keys.create_seed_checkpoint && !steps->empty()) {
    return fail(ErrorCode::kUsage,
                concat("checkpoint.create_seed_checkpoint saves initial weights, but ",
                       folder,
                       " holds ",
                       names_of(*steps),
                       "; leave it out to go on from there, or begin in another job.dump_folder"));
  }
  Result<void> added;
  if (keys.load_step >= 0) {
    added = add_load_step(choice, folder, *steps, keys.load_step);
  } else if (!steps->empty()) {
    added = add_newest(choice, folder, *steps);
  } else if (keys.initial_load_path) {
    choice.candidates.push_back({0, *keys.initial_load_path});
    choice.asked_for = true;
    choice.weights_alone = keys.initial_load_model_only || keys.initial_load_in_hf;
    choice.in_hf = keys.initial_load_in_hf;
  }
  return added ? Result<Choice>(choice) : fail(added.error());
}

std::string to_text(const Choice& choice) {
  nlohmann::json candidates = nlohmann::json::array();
  for (const Candidate& candidate : choice.candidates) {
    candidates.push_back({candidate.step, candidate.path});
  }
  return nlohmann::json({{"candidates", candidates},
                         {"asked_for", choice.asked_for},
                         {"weights_alone", choice.weights_alone},
                         {"in_hf", choice.in_hf},
                         {"run", choice.run},
                         {"remarks", choice.remarks}})
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Choice choice_of(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  Choice choice;
  json.at("asked_for").get_to(choice.asked_for);
  json.at("weights_alone").get_to(choice.weights_alone);
  json.at("in_hf").get_to(choice.in_hf);
  json.at("run").get_to(choice.run);
  json.at("remarks").get_to(choice.remarks);
  for (const nlohmann::json& candidate : json.at("candidates")) {
    choice.candidates.push_back({candidate.at(0), candidate.at(1)});
  }
  return choice;
}

}  // namespace brigade::loop
