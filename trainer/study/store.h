// SPDX-License-Identifier: Apache-2.0
/// Store: the folder of one study, which keeps what has been measured when the study is stopped.
///
///   Result<Store> store = Store::open(study.output_folder, facts_of(study, base));
///   if (!store->result(id, repeat)) {
///     const std::string folder = value_or_throw(store->begin(id, repeat));
///     ...                                        // runs, with its files in `folder`
///     value_or_throw(store->finish(id, repeat, result));
///   }
///
///   study.json                            name, hash and facts of the study
///   lock                                  held while a process writes here
///   points/<id>/repeat_<k>/               what a run leaves
///   points/<id>/repeat_<k>/result.json    written last, by one rename: it is there when all is
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "parallel/base/result.h"
#include "trainer/checkpoint/folder_lock.h"
#include "trainer/config/run_config.h"
#include "trainer/study/run_result.h"
#include "trainer/study/study.h"

namespace brigade::study {

/// What decides a study's numbers, by name: its keys, and those of its base recipe. Where results
/// go and how long a run may take are not among them.
struct StudyFacts {
  std::string name = "";
  std::map<std::string, std::string> values = {};

  std::string hash() const;  ///< 16 hexadecimal digits
};

/// `base`: the base recipe under the study's settings.
StudyFacts facts_of(const Study& study, const config::RunConfig& base);

/// Thread safety: one thread at a time; other processes are kept out by the lock.
class Store {
 public:
  /// Makes the folder, or goes on with what is there.
  /// Errors: kUsage when the folder holds another study (both named), the same one with other
  ///         facts (which), or files that are no study's; kIo when another process has it, or it
  ///         cannot be written.
  static Result<Store> open(const std::string& folder, const StudyFacts& facts);

  const std::string& folder() const { return folder_; }
  /// Of a finished run; none where it has not been, or its file cannot be read.
  std::optional<RunResult> result(const std::string& id, int64_t repeat) const;
  /// An empty folder for a run that is to begin; what an unfinished one left is removed.
  /// Errors: kIo.
  Result<std::string> begin(const std::string& id, int64_t repeat) const;
  /// Errors: kIo; the run then counts as unfinished.
  Result<void> finish(const std::string& id, int64_t repeat, const RunResult& result) const;
  std::string run_folder(const std::string& id, int64_t repeat) const;

 private:
  Store(std::string folder, std::unique_ptr<checkpoint::FolderLock> lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  std::string folder_;
  std::unique_ptr<checkpoint::FolderLock> lock_;
};

}  // namespace brigade::study
