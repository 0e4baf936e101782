// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/folder.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "parallel/base/text.h"
#include "trainer/checkpoint/output_file.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSaving = ".saving";
constexpr std::string_view kPurging = ".purging";

tl::unexpected<Error> io_error(const std::string& path,
                               const char* what,
                               const std::error_code& code) {
  return fail(ErrorCode::kIo, concat(path, " ", what, ": ", code.message()));
}

/// ".step-100.purging" and its like: names of ours, for folders that are no checkpoints.
bool is_leftover(const std::string& name) {
  for (const std::string_view ending : {kSaving, kPurging}) {
    if (name.starts_with('.') && name.ends_with(ending)) {
      return step_of(std::string_view(name).substr(1, name.size() - 1 - ending.size())).has_value();
    }
  }
  return false;
}

Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::error_code code;
  std::vector<std::string> names;
  fs::directory_iterator entry(folder, code);
  for (; !code && entry != fs::directory_iterator(); entry.increment(code)) {
    names.push_back(entry->path().filename().string());
  }
  if (code && code != std::errc::no_such_file_or_directory) {
    return io_error(folder, "cannot be listed", code);
  }
  return names;
}

/// Both appear to others at once under the other's name.
Result<void> exchange(const std::string& a, const std::string& b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) != 0) {
    return system_error(b, "exists and cannot be exchanged; move it away");
  }
  return {};
}

std::string purging_path(const std::string& folder, int64_t step) {
  return concat(folder, "/.", kPrefix, step, kPurging);
}

Result<void> remove_folder(const std::string& path) {
  std::error_code code;
  fs::remove_all(path, code);
  return code ? Result<void>(io_error(path, "cannot be removed", code)) : Result<void>();
}

}  // namespace

std::string step_path(const std::string& folder, int64_t step) {
  return concat(folder, "/", kPrefix, step);
}

std::string staging_path(const std::string& folder, int64_t step) {
  return concat(folder, "/.", kPrefix, step, kSaving);
}

std::optional<int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(kPrefix.size());
  int64_t step = 0;
  const auto read = std::from_chars(digits.begin(), digits.end(), step);
  const bool is_plain =
      read.ec == std::errc() && step >= 0 && concat(step) == digits;  // no zeros before, no sign
  return is_plain ? std::optional(step) : std::nullopt;
}

Result<std::vector<int64_t>> list_steps(const std::string& folder) {
  const Result<std::vector<std::string>> names = names_in(folder);
  if (!names) {
    return fail(names.error());
  }
  std::vector<int64_t> steps;
  for (const std::string& name : *names) {
    if (const std::optional<int64_t> step = step_of(name)) {
      steps.push_back(*step);
    }
  }
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

Result<void> make_folder(const std::string& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) {
    return io_error(folder, "cannot be made, to hold checkpoints", code);
  }
  if (!fs::is_directory(folder, code)) {
    return fail(ErrorCode::kIo,
                concat(folder, " is no folder; checkpoint.folder needs a place to save in"));
  }
  return {};
}

Result<std::vector<std::string>> remove_leftovers(const std::string& folder) {
  const Result<std::vector<std::string>> names = names_in(folder);
  if (!names) {
    return fail(names.error());
  }
  std::vector<std::string> lines;
  for (const std::string& name : *names) {
    if (!is_leftover(name)) {
      continue;
    }
    const std::string path = concat(folder, "/", name);
    if (Result<void> removed = remove_folder(path); !removed) {
      return fail(removed.error());
    }
    lines.push_back(concat("removed ",
                           path,
                           name.ends_with(kSaving)
                               ? ": no checkpoint, its run ended while it saved"
                               : ": a checkpoint that was being removed when its run ended"));
  }
  return lines;
}

Result<void> make_staging(const std::string& folder, int64_t step) {
  const std::string path = staging_path(folder, step);
  if (Result<void> removed = remove_folder(path); !removed) {
    return removed;
  }
  return ::mkdir(path.c_str(), 0777) == 0 ? Result<void>() : system_error(path, "cannot be made");
}

void drop_staging(const std::string& folder, int64_t step) {
  static_cast<void>(remove_folder(staging_path(folder, step)));  // the next run tries again
}

Result<void> publish(const std::string& folder, int64_t step) {
  const std::string from = staging_path(folder, step);
  const std::string to = step_path(folder, step);
  std::error_code code;
  if (fs::exists(fs::symlink_status(to, code))) {
    const Result<void> replaced = exchange(from, to).and_then([&] { return flush_folder(folder); });
    if (replaced) {
      drop_staging(folder, step);
    }
    return replaced;
  }
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    return system_error(to, "cannot be published");
  }
  return flush_folder(folder);
}

Result<void> purge(const std::string& folder, int64_t step) {
  const std::string from = step_path(folder, step);
  const std::string to = purging_path(folder, step);
  if (Result<void> removed = remove_folder(to); !removed) {
    return removed;
  }
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    return system_error(from, "cannot be removed");
  }
  return remove_folder(to);
}

Result<uint64_t> free_bytes(const std::string& folder) {
  struct statvfs facts = {};
  if (::statvfs(folder.c_str(), &facts) != 0) {
    return system_error(folder, "does not say how much of it is free");
  }
  return uint64_t{facts.f_bavail} * facts.f_frsize;
}

}  // namespace brigade::checkpoint
