// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/run_folder.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/utsname.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"
#include "trainer/config/print.h"
#include "trainer/metrics/line_file.h"

namespace brigade::metrics {
namespace {

void write_file(const std::string& path, std::string text, DiskWarning& warning) {
  if (!text.empty() && text.back() == '\n') {
    text.pop_back();  // the file adds it again
  }
  LineFile(path, warning).write(text);
}

}  // namespace

Versions base_versions() {
  utsname system = {};
  uname(&system);
  return {{"brigade", BRIGADE_VERSION},
          {"compiler", __VERSION__},
          {"kernel", concat(system.sysname, ' ', system.release, ' ', system.machine)},
          {"host", system.nodename}};
}

Result<void> make_run_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const bool full = error == std::errc::no_space_on_device;
  if (!full && (error || !std::filesystem::is_directory(folder))) {
    return fail(ErrorCode::kIo,
                concat("the run folder job.dump_folder could not be made: ",
                       error ? error.message() : "something else is in its place",
                       ": ",
                       folder));
  }
  if (!full && access(folder.c_str(), W_OK | X_OK) != 0) {
    return fail(ErrorCode::kIo,
                concat("the run folder job.dump_folder may not be written: ",
                       std::strerror(errno),
                       ": ",
                       folder));
  }
  return {};
}

std::string metrics_path(const std::string& folder) {
  return concat(folder, "/metrics.jsonl");
}

std::string validation_path(const std::string& folder) {
  return concat(folder, "/validation.jsonl");
}

std::string config_path(const std::string& folder) {
  return concat(folder, "/config.toml");
}

std::string versions_path(const std::string& folder) {
  return concat(folder, "/versions.json");
}

std::string rank_log_path(const std::string& folder, int rank) {
  return concat(folder, "/rank_", rank, ".log");
}

std::string stop_file_path(const std::string& folder) {
  return concat(folder, "/STOP");
}

bool stop_file_is_there(const std::string& folder) {
  return access(stop_file_path(folder).c_str(), F_OK) == 0;
}

Result<void> take_stop_file(const std::string& folder) {
  const std::string path = stop_file_path(folder);
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) {
    return fail(ErrorCode::kIo,
                concat("the stop file could not be removed, and will stop the next run too unless "
                       "you remove it: ",
                       error.message(),
                       ": ",
                       path));
  }
  return {};
}

void write_run_facts(const config::RunConfig& config,
                     const Versions& versions,
                     DiskWarning& warning) {
  const std::string& folder = config.job.dump_folder;
  const std::string recipe = config::to_toml(config);
  write_file(config_path(folder), recipe, warning);
  if (config.job.save_config_file) {
    write_file(*config.job.save_config_file, recipe, warning);
  }
  constexpr int kIndent = 2;
  write_file(versions_path(folder), nlohmann::json(versions).dump(kIndent), warning);
}

}  // namespace brigade::metrics
