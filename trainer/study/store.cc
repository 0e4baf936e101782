// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/store.h"

#include <filesystem>
#include <iomanip>
#include <sstream>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "parallel/base/philox.h"
#include "parallel/base/text.h"
#include "trainer/checkpoint/input_file.h"
#include "trainer/checkpoint/output_file.h"
#include "trainer/config/flat.h"

namespace brigade::study {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{64} << 20;  // of a file of ours

const checkpoint::LockWords kWords = {
    .cannot = "the study cannot be written to",
    .taken = "another process runs a study in",
    .remedy = "stop it, or give this study an output_folder of its own"};

std::string study_path(const std::string& folder) {
  return concat(folder, "/study.json");
}

std::string to_json(const StudyFacts& facts) {
  constexpr int kIndent = 2;
  return nlohmann::json(
             {{"format", 1}, {"name", facts.name}, {"hash", facts.hash()}, {"facts", facts.values}})
      .dump(kIndent, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<StudyFacts> parse_facts(const std::string& text, const std::string& path) {
  try {
    const nlohmann::json read = nlohmann::json::parse(text);
    return StudyFacts{read.at("name"), read.at("facts")};
  } catch (const nlohmann::json::exception& exception) {
    return fail(ErrorCode::kUsage,
                concat(path,
                       " is not the record of a study; give this one another output_folder: ",
                       exception.what()));
  }
}

std::string value_in(const StudyFacts& facts, const std::string& key) {
  const auto found = facts.values.find(key);
  return found == facts.values.end() ? "nothing" : found->second;
}

/// "steps was 10 and is 20": the first few.
std::string changes(const StudyFacts& before, const StudyFacts& now) {
  constexpr size_t kMost = 5;
  std::map<std::string, std::string> keys = before.values;
  keys.insert(now.values.begin(), now.values.end());
  std::vector<std::string> said;
  size_t more = 0;
  for (const auto& [key, value] : keys) {
    const std::string was = value_in(before, key);
    const std::string is = value_in(now, key);
    if (was != is && said.size() < kMost) {
      said.push_back(concat(key, " was ", was, " and is ", is));
    } else if (was != is) {
      ++more;
    }
  }
  return concat(join(said, "; "), more > 0 ? concat("; and ", more, " more") : "");
}

Result<void> check_same(const std::string& folder,
                        const StudyFacts& before,
                        const StudyFacts& now) {
  if (before.name != now.name) {
    return fail(ErrorCode::kUsage,
                concat("the folder ",
                       folder,
                       " holds the study \"",
                       before.name,
                       "\", not \"",
                       now.name,
                       "\"; give this one another output_folder"));
  }
  if (before.values != now.values) {
    return fail(ErrorCode::kUsage,
                concat("the study \"",
                       now.name,
                       "\" has changed since it began in ",
                       folder,
                       ", and its numbers would not be comparable: ",
                       changes(before, now),
                       "; undo that, or give it another output_folder"));
  }
  return {};
}

/// Files of somebody else's: anything in a folder that has no study yet, but for the lock.
Result<void> check_empty(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename() != "lock" && entry.path().filename() != "study.json.new") {
      return fail(ErrorCode::kUsage,
                  concat("the folder ",
                         folder,
                         " is not empty and holds no study; give this one another output_folder; "
                         "found ",
                         entry.path().filename().string()));
    }
  }
  return {};
}

std::string texts(const std::vector<std::string>& values) {
  return concat('[', join(values), ']');
}

}  // namespace

std::string StudyFacts::hash() const {
  std::string all;
  for (const auto& [key, value] : values) {
    all += concat(key, '=', value, '\n');
  }
  std::ostringstream digits;
  digits << std::hex << std::setw(16) << std::setfill('0') << random_stream(name, all);
  return digits.str();
}

StudyFacts facts_of(const Study& study, const config::RunConfig& base) {
  StudyFacts facts;
  facts.name = study.name;
  auto& values = facts.values;
  for (const auto& [key, value] : config::flat(base)) {
    if (!key.starts_with("job.")) {
      values.emplace(concat("base ", key), value);
    }
  }
  values["scaling"] = to_string(study.scaling);
  values["repeats"] = concat(study.repeats);
  values["steps"] = concat(study.steps);
  values["warmup_steps"] = concat(study.warmup_steps);
  values["seed"] = concat(study.seed);
  values["oversubscribe"] = study.oversubscribe ? "true" : "false";
  values["batch_per_data_rank"] = concat(study.batch_per_data_rank);
  values["memory_per_rank"] = concat(study.memory_per_rank);
  values["settings"] = texts(study.settings);
  values["ranks"] = concat('[', join(study.grid.ranks), ']');
  values["threads"] = concat('[', join(study.grid.threads), ']');
  values["zero_stage"] = concat('[', join(study.grid.zero_stages), ']');
  values["microbatch_size"] = concat('[', join(study.grid.microbatch_sizes), ']');
  values["schedule"] = texts(study.grid.schedules);
  values["model_flavor"] = texts(study.grid.flavors);
  for (const auto& [ranks, meshes] : study.grid.meshes) {
    std::vector<std::string> shown;
    for (const MeshChoice& mesh : meshes) {
      shown.push_back(to_string(mesh.degrees));
    }
    values[concat("mesh of ", ranks)] = texts(shown);
  }
  for (const Peer& peer : study.peers) {
    values[concat("peer ", peer.name)] = concat(peer.command, " beside ", texts(peer.series));
  }
  return facts;
}

Result<Store> Store::open(const std::string& folder, const StudyFacts& facts) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder, error)) {
    return fail(ErrorCode::kIo,
                concat("the study's folder could not be made: ",
                       error ? error.message() : "something else is in its place",
                       ": ",
                       folder));
  }
  Result<std::unique_ptr<checkpoint::FolderLock>> lock =
      checkpoint::FolderLock::take(folder, kWords);
  if (!lock) {
    return fail(lock.error());
  }
  Store store(folder, std::move(*lock));
  const std::string path = study_path(folder);
  if (fs::exists(path, error)) {
    const Result<std::string> text = checkpoint::read_text(path, kMostBytes);
    const Result<StudyFacts> before =
        text ? parse_facts(*text, path) : Result<StudyFacts>(fail(text.error()));
    const Result<void> same = before ? check_same(folder, *before, facts) : fail(before.error());
    if (!same) {
      return fail(same.error());
    }
  } else {
    const Result<void> empty = check_empty(folder);
    const Result<void> written =
        empty ? checkpoint::replace_durably(path, to_json(facts) + "\n") : empty;
    if (!written) {
      return fail(written.error());
    }
  }
  if (const Result<void> owned = store.lock_->set_run(facts.name); !owned) {
    return fail(owned.error());
  }
  return store;
}

std::string Store::run_folder(const std::string& id, int64_t repeat) const {
  return concat(folder_, "/points/", id, "/repeat_", repeat);
}

std::optional<RunResult> Store::result(const std::string& id, int64_t repeat) const {
  const Result<std::string> text =
      checkpoint::read_text(concat(run_folder(id, repeat), "/result.json"), kMostBytes);
  const Result<RunResult> read =
      text ? parse_run_result(*text) : Result<RunResult>(fail(text.error()));
  return read ? std::optional<RunResult>(*read) : std::nullopt;
}

Result<std::string> Store::begin(const std::string& id, int64_t repeat) const {
  const std::string folder = run_folder(id, repeat);
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) {
    fs::create_directories(folder, error);
  }
  if (error) {
    return fail(ErrorCode::kIo,
                concat("no folder for a run of ", id, ": ", error.message(), ": ", folder));
  }
  return folder;
}

Result<void> Store::finish(const std::string& id, int64_t repeat, const RunResult& result) const {
  return checkpoint::replace_durably(concat(run_folder(id, repeat), "/result.json"),
                                     study::to_json(result) + "\n");
}

}  // namespace brigade::study
