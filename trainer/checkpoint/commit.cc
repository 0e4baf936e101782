// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/commit.h"

#include <utility>

#include "parallel/base/text.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/folder.h"
#include "trainer/checkpoint/output_file.h"

namespace brigade::checkpoint {
namespace {

Result<Manifest> joined(const Manifest& head, std::span<const std::string> records) {
  std::vector<Manifest> parts;
  for (size_t rank = 0; rank < records.size(); ++rank) {
    if (records[rank].empty()) {
      continue;
    }
    Result<Manifest> part =
        parse_manifest(records[rank], concat("the record of rank ", rank), /*whole=*/false);
    if (!part) {
      return part;
    }
    parts.push_back(std::move(*part));
  }
  return merge(head, parts);
}

Result<void> write_manifest(const std::string& staging, const Manifest& manifest) {
  return write_durably(concat(staging, "/", kManifestName), to_json(manifest)).and_then([&] {
    return flush_folder(staging);
  });
}

/// Complete ones of a run, the newest first. `newest` is known to be.
std::vector<int64_t> steps_of(const std::string& run,
                              const std::string& folder,
                              const std::vector<int64_t>& steps,
                              int64_t newest) {
  std::vector<int64_t> own = {newest};
  for (const int64_t step : steps) {
    if (step == newest) {
      continue;
    }
    const auto checkpoint = Checkpoint::open(step_path(folder, step));
    if (checkpoint && (*checkpoint)->manifest().run == run) {
      own.push_back(step);
    }
  }
  return own;
}

Committed purge_all_but(int64_t keep_latest_k,
                        const std::string& run,
                        const std::string& folder,
                        int64_t newest) {
  Committed committed;
  const Result<std::vector<int64_t>> steps = list_steps(folder);
  if (!steps) {
    committed.remarks.push_back(concat("no old checkpoint was removed: ", steps.error().text));
    return committed;
  }
  const std::vector<int64_t> own = steps_of(run, folder, *steps, newest);
  for (auto i = static_cast<size_t>(keep_latest_k); i < own.size(); ++i) {
    if (const Result<void> purged = purge(folder, own[i]); purged) {
      committed.purged.push_back(own[i]);
    } else {
      committed.remarks.push_back(
          concat("the checkpoint of step ", own[i], " was not removed: ", purged.error().text));
    }
  }
  return committed;
}

}  // namespace

Result<Committed> commit(const std::string& folder,
                         const Manifest& head,
                         std::span<const std::string> records,
                         int64_t keep_latest_k) {
  const Result<Manifest> manifest = joined(head, records);
  if (!manifest) {
    return fail(manifest.error());
  }
  const int64_t step = head.counters.step;
  const Result<void> published =
      write_manifest(staging_path(folder, step), *manifest).and_then([&] {
        return publish(folder, step);
      });
  if (!published) {
    return fail(published.error());
  }
  return keep_latest_k == 0 ? Committed() : purge_all_but(keep_latest_k, head.run, folder, step);
}

}  // namespace brigade::checkpoint
