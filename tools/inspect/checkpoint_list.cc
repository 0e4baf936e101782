// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/checkpoint_list.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "parallel/base/text.h"
#include "tools/inspect/checkpoint_report.h"
#include "tools/inspect/table.h"
#include "trainer/checkpoint/folder.h"

namespace brigade::inspect {
namespace {

namespace fs = std::filesystem;

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

bool is_step(const std::string& path) {
  std::error_code none;
  return fs::exists(fs::path(path) / checkpoint::kManifestName, none) ||
         checkpoint::step_of(fs::path(without_slashes(path)).filename().string());
}

/// A folder directly below in which there are steps: of a run's folder its checkpoints.
std::optional<std::string> folder_below(const std::string& path) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    if (at->is_directory(none) && !steps_in(at->path().string()).empty()) {
      found.push_back(at->path().string());
    }
  }
  const auto first = std::min_element(found.begin(), found.end());
  return first == found.end() ? std::nullopt : std::optional(*first);
}

}  // namespace

std::vector<int64_t> steps_in(const std::string& path) {
  if (is_step(path)) {
    return {};
  }
  const Result<std::vector<int64_t>> steps = checkpoint::list_steps(path);
  return steps ? *steps : std::vector<int64_t>{};
}

std::string list_report(const std::string& path, const std::vector<int64_t>& steps) {
  Table complete({{"step"}, {"run"}, {"saved"}, {"holds"}, {"bytes", Align::kRight}, {""}});
  std::string others;
  for (const int64_t step : steps) {
    const std::string folder = checkpoint::step_path(without_slashes(path), step);
    const auto opened = checkpoint::Checkpoint::open(folder);
    if (!opened) {
      others += concat("step-", step, " incomplete: ", opened.error().text, '\n');
      continue;
    }
    const checkpoint::Manifest& manifest = (*opened)->manifest();
    const auto bytes = static_cast<int64_t>(total_bytes(manifest));
    complete.add({concat("step-", step),
                  manifest.run,
                  manifest.saved_at,
                  manifest.model_only ? "model" : "all",
                  with_thousands(bytes),
                  concat('(', bytes_text(bytes), ')')});
  }
  return complete.empty() ? others : complete.text() + others;
}

Result<std::unique_ptr<checkpoint::Checkpoint>> open_step(const std::string& path) {
  if (const std::vector<int64_t> steps = steps_in(path); !steps.empty()) {
    return fail(ErrorCode::kUsage,
                concat(path,
                       " holds checkpoints and is none itself; name one, such as ",
                       checkpoint::step_path(without_slashes(path), steps.front())));
  }
  auto opened = checkpoint::Checkpoint::open(without_slashes(path));
  if (opened || is_step(path)) {
    return opened;
  }
  if (const std::optional<std::string> below = folder_below(path)) {
    return fail(ErrorCode::kUsage, concat(path, " is no checkpoint; there are some in ", *below));
  }
  return opened;
}

}  // namespace brigade::inspect
